"""Ordinary scalars to a run: points, which tags they are of, rows of steps.

The flow: `scalar_points` -> `scalar_series` -> `scalar_run`. `scalar_catalogue` does it for
TensorBoard.
"""
