"""The garbage collector and the stacks of threads: pauses and places.

Start at `stacks.py`.
"""
