"""Accounts of seconds that no clock in the training thread can measure.

Start at `estimates.with_estimates`, which has them in order: `slow_steps.with_slow_lines` (lines
seen in slow steps), `waits.with_waits` (lines that wait in every step),
`open_tapes.with_open_tapes` (gradient tapes that stay open), `eager_gradients.with_eager_gradients`
(gradients beside graphs), `graphs.graph_python` (Python that graphs call),
`flat_python.with_flat_python` (Python, and operations that it starts one by one),
`input_work.with_input_work` (a pipeline on the step's cores), `busy_threads.with_busy_threads`
(other threads on them), and `graphs.counted_work` (what graphs compute for nothing).
"""
