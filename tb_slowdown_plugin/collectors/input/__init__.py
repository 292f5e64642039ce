"""Iterators and batches: input wait, stages, batch shapes.

Start at `wait.InputWait`.
"""
