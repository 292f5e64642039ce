"""A run becomes clean steps, exclusive seconds, traces, and workers.

Start at `recorded_run.py` and `steps.py`.
"""
