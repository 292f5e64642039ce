"""Step time that no account explains: warm-up, shifts, stalls.

Start at `residual.py`.
"""
