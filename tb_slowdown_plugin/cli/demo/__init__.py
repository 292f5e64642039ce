"""`tbslow demo`: a program with a mistake in it, and the command that records it."""
