"""Ordinary scalars to a run: points, which tags they are of, rows of steps."""
