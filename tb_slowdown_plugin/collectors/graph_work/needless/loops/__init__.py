"""Loops in a step, of the graph or of Python, in which each round takes more than it needs.

Start at `independent_rounds.py`.
"""
