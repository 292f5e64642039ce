"""Keras's models, where the program has imported Keras."""

from __future__ import annotations

import sys
from typing import Any

from tb_slowdown_plugin.collectors.base import Unavailable


def find_model_class() -> Any:
    """`keras.Model`, whose methods may be hooked.

    Raises:
      Unavailable: Keras has not been imported, so there are no models of its.
    """
    keras = sys.modules.get("keras")
    if keras is None:
        raise Unavailable("Keras was not imported when the monitor was started")
    return keras.Model
