"""Loops in a step in which each round takes more than it needs: the line, and what to do instead.

Start at `independent_rounds.py`.
"""
