"""Accounts of seconds that no clock in the training thread can measure.

Start at `slow_steps.with_slow_lines` (lines seen in slow steps), `waits.with_waits` (lines that
wait in every step), `eager_operations.with_flat_python` (operations that Python starts one by
one), and `input_work.with_input_work` (a pipeline on the step's cores).
"""
