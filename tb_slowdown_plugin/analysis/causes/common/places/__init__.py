"""Where a growth lies: in which line of the program, and in which part of the step.

Start at `sampled_places.py`.
"""
