"""Sessions of TensorFlow 1: what a step runs in them, and what is run again.

The flow: `session_calls` follows each run -> `session_graphs` (may it wait?), `session_repeats`
(was it computed before?), `session_work` (does the training need it?). Start at
`session_calls.SessionRuns`.
"""
