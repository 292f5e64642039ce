"""Causes in Python and the machine.

Start at `python_overhead.explain`.
"""
