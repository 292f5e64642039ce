"""Hooks into TensorFlow, Keras, and Python that the program does not see.

Start at `method_hooks.MethodHooks`. `source_location` and `installed_code` say where code was
written and whose it is.
"""
