"""A run becomes clean steps, exclusive seconds, traces, and workers.

Start at `recorded_run.measured_seconds` (accounts), `steps.prepare_steps` (arrays), and
`function_traces.traced_graphs` (traces with their first runs).
"""
