"""Records become sessions, and sessions one run of columns.

The flow: `record_batch.Record` -> `run_builder.RunBuilder` -> `session_builder.SessionBuilder`
(one process) -> `join` (one worker) -> a run.
"""
