"""Callbacks of `fit` become steps, epochs, and accounts.

Start at `callback.SlowdownCallback`.
"""
