"""Judges the runs of many logdirs, on processes of this machine or on Dask.

The flow: `collecting` -> `dispatch` -> `executors` -> `judging`, in a worker.
"""
