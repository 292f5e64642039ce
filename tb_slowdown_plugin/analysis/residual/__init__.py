"""Step time that no account explains: warm-up, shifts, stalls.

The flow: `residual.fit_steps` -> `residual.judge_core` -> `stalls`, for what is neither a shift nor
growth.
"""
