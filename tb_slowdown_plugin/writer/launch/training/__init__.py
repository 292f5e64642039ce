"""What trains in a program that nobody changed.

The flow: `training_calls`, `fits`, and `passes` tell `step_cycle`, which makes steps and epochs.
"""
