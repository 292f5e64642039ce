"""The command `tbslow`."""
