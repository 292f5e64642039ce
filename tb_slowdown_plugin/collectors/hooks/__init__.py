"""Hooks into TensorFlow, Keras, and Python that the program does not see.

Start at `method_hooks.py`.
"""
