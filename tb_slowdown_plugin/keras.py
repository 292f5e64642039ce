"""Keras: `model.fit(..., callbacks=[tbslow.keras.SlowdownCallback("logs/run1")])`.

Importing this module does not import Keras; naming the callback does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    pass


def __getattr__(name: str) -> Any:
    if name != "SlowdownCallback":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tb_slowdown_plugin.writer.keras.callback import SlowdownCallback

    globals()[name] = SlowdownCallback
    return SlowdownCallback


def __dir__() -> list[str]:
    return ["SlowdownCallback"]
