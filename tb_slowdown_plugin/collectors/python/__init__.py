"""The garbage collector and the stacks of threads: pauses and places.

`garbage` books seconds; `stacks`, `slow_steps`, and `waiting` look from outside at where a thread
is. Start at `stacks.py`.
"""
