"""Whether TensorFlow is tracing in order to save; private, so it is all in this file."""

from __future__ import annotations

import sys


def is_saving() -> bool:
    """Whether `tf.saved_model.save` is at work, which traces once more what it saves.

    TensorFlow keeps those traces apart from the ones that train: its save policy is
    a part of the key of its function cache (2.16 to 2.21, `function_context.py`).
    """
    module = sys.modules.get("tensorflow.python.saved_model.save_context")
    return module is not None and bool(module.in_save_context())
