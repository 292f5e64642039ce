"""Records become sessions, and sessions one run of columns.

The flow: `record_batch.Record` -> `run_builder.Assembly` -> `session_builder.Strand` (one process)
-> `join` (one worker) -> a run.
"""
