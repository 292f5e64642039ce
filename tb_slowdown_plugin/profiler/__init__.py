"""Profiler captures: found, read without TensorFlow or XProf, and compared.

The flow: `sessions` finds files -> `xplane/` decodes them -> `read.read_trace` -> `digest` for the
report, `summary` for `tbslow trace`, `compare` for two of them.
"""
