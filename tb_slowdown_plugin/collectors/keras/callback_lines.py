"""The lines that make callbacks: one of Keras's own has no other line in the program.

Cost: 5 us a callback.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Generator
from types import FrameType
from typing import Any, Final

from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces

_MOST_CALLBACKS: Final = 256
"""Callbacks alive at once that are remembered."""

_MOST_CLASSES: Final = 10
"""Frames that are looked at for the `__init__` of classes between the program's and Keras's."""

_lines: dict[int, tuple[weakref.ref[Any], str]] = {}
"""Of the callbacks of this process, by `id`: they may be equal, or without a hash."""


class CallbackLines:
    """Remembers the line that makes each callback, as long as the callback lives."""

    name = "callback_lines"

    def start(self, context: Context) -> None:
        """Hooks Keras's `Callback`.

        Raises:
          Unavailable: Keras has not been imported.
        """
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.surround(find_keras().callbacks.Callback, "__init__", _remember)

    def stop(self) -> None:
        """Puts Keras's method back, and forgets the lines."""
        self._hooks.remove()
        _lines.clear()


def line_of(callback: Any) -> str:
    """The line that made a callback, as "train.py:41"; "" where it was not seen."""
    made_by, line = _lines.get(id(callback), (None, ""))
    return line if made_by is not None and made_by() is callback else ""


def _frame_around(callback: Any, frame: FrameType) -> FrameType | None:
    """The frame that calls a callback's class: its own `__init__` only calls Keras's.

    Frames are told by their code: to read their variables would keep what these hold.
    """
    made_by = {
        getattr(made.__dict__.get("__init__"), "__code__", None) for made in type(callback).__mro__
    }
    around: FrameType | None = frame
    inner: FrameType | None = frame
    for _ in range(_MOST_CLASSES):
        if inner is None:
            break
        if inner.f_code in made_by:
            around = inner.f_back
        inner = inner.f_back
    return around


def _remember(callback: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
    with contextlib.suppress(Exception):  # the program must not see it
        file, line = calling_line(_frame_around(callback, sys._getframe(1)))
        if file and len(_lines) < _MOST_CALLBACKS:
            key = id(callback)
            alive = weakref.ref(callback, lambda _: _lines.pop(key, None))
            _lines[key] = alive, SourcePlaces.of_process().at(file, line)
    yield
