"""The directory that `tbslow run` puts on the path of a program, for a moment."""
