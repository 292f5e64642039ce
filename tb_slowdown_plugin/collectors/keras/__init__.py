"""Callbacks, `predict`, `evaluate`, and optimizers: seconds with their names.

Start at `callbacks.SiblingTimer`. Steps of a `fit` are made by the writer: `writer/keras/`.
"""
