"""How often `tbslow compare` is wrong, on drawn runs and on runs of a real program."""
