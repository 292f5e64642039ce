"""Keras, where the program has imported it."""

from __future__ import annotations

import sys
from typing import Any

from tb_slowdown_plugin.collectors.base import Unavailable


def find_keras() -> Any:
    """The module `keras`, whose classes may be hooked.

    Raises:
      Unavailable: Keras has not been imported, so there is nothing of its.
    """
    keras = sys.modules.get("keras")
    if keras is None:
        raise Unavailable("Keras was not imported when the monitor was started")
    return keras
