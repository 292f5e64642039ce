"""Judges the runs of many logdirs, on processes of this machine or on Dask."""
