"""The lines of the program that make callbacks, layers, and metrics, as long as these live."""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Generator, Iterator
from operator import attrgetter
from types import FrameType
from typing import Any, ClassVar, Final

from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces

_MOST_CLASSES: Final = 10
"""Frames that are looked at for the `__init__` of classes between the program's and the library's.
"""


class MadeLines:
    """Remembers the line that makes each object of a class whose `__init__` is surrounded.

    Objects are told by `id`: they may be equal, or without a hash.

    Args:
      most: Objects alive at once that are remembered.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lines: dict[int, tuple[weakref.ref[Any], tuple[str, int]]] = {}

    def __iter__(self) -> Iterator[tuple[Any, str]]:
        """The objects that are alive, each with its line."""
        places = SourcePlaces.of_process()
        for made_by, line in list(self._lines.values()):
            if (made := made_by()) is not None:
                yield made, places.at(*line)

    def line_of(self, made: Any) -> str:
        """The line that made it, as "train.py:41"; "" where it was not seen."""
        made_by, line = self._lines.get(id(made), (None, ("", 0)))
        is_known = made_by is not None and made_by() is made
        return SourcePlaces.of_process().at(*line) if is_known else ""

    def remember(self, made: Any, /, *_: Any, **__: Any) -> Generator[None, Any, None]:
        """Surrounds the `__init__` of the library's class."""
        with contextlib.suppress(Exception):  # the program must not see it
            line = calling_line(_frame_around(made, sys._getframe(1)))
            if line[0] and len(self._lines) < self._most:
                key, lines = id(made), self._lines
                lines[key] = weakref.ref(made, lambda _: lines.pop(key, None)), line
        yield

    def clear(self) -> None:
        """Forgets all lines."""
        self._lines.clear()


class LineCollector:
    """Remembers the line that makes each object of one class of Keras's, and of its subclasses."""

    name: ClassVar[str]
    made: ClassVar[str]
    """The class, as a name in Keras."""
    lines: ClassVar[MadeLines]
    """Of the objects of this process."""

    def start(self, context: Context) -> None:
        """Hooks the class.

        Raises:
          Unavailable: Keras has not been imported.
        """
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.surround(attrgetter(self.made)(find_keras()), "__init__", self.lines.remember)

    def stop(self) -> None:
        """Puts Keras's method back, and forgets the lines."""
        self._hooks.remove()
        self.lines.clear()


def handles_of(variable: Any) -> Iterator[Any]:
    """The handles of a variable of Keras's, by which a graph knows it."""
    value = getattr(variable, "_value", None)
    # A strategy has one for each of its devices, and asks in which one it is.
    for each in getattr(value, "_values", (value,)):
        if (handle := getattr(each, "handle", None)) is not None:
            yield handle


def _frame_around(made: Any, frame: FrameType) -> FrameType | None:
    """The frame that calls an object's class: its own `__init__` only calls the library's.

    Frames are told by their code: to read their variables would keep what these hold.
    """
    made_by = {
        getattr(kind.__dict__.get("__init__"), "__code__", None) for kind in type(made).__mro__
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
