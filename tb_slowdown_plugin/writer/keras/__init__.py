"""Callbacks of `fit` become steps, epochs, and accounts.

The flow: `callback.SlowdownCallback` -> `fit_hooks` (hooks Keras's callback list) -> `fit_steps`
(says to the recorder what they mean).
"""
