"""Callbacks, `predict`, `evaluate`, and optimizers: seconds with their names.

Start at `callbacks.py`.
"""
