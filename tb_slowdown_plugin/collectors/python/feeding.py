"""Whether the training thread makes its next batch itself, in a generator or a loader class.

A `for` loop over such a generator waits for it as it would for a pipeline, and no clock sees that.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Final

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.python.eager_operations import runs_graph

_EXPRESSION: Final = "<genexpr>"
_GIVES: Final = frozenset({"__getitem__", "__next__"})
"""Methods by which a class of the program gives the next batch."""
_DEEPEST: Final = 100


class Feeding:
    """Tells generators that feed the loop from those that hold it."""

    def __init__(self) -> None:
        self._holding: set[CodeType] = set()

    def feeds(self, innermost: FrameType) -> bool:
        """Whether a generator makes something for the loop.

        One that was seen to run a graph may be the training loop itself, and is never taken for
        input from then on.

        Args:
          innermost: Where the training thread is.
        """
        found = set(_feeders(innermost))
        if found and runs_graph(innermost):
            self._holding |= found
        return bool(found - self._holding)


def _feeders(innermost: FrameType) -> Iterator[CodeType]:
    """Generators and loaders of the program that a frame runs in, and that its own code asks."""
    found: list[CodeType] = []
    frame: FrameType | None = innermost
    for _ in range(_DEEPEST):
        if frame is None:
            return
        code = frame.f_code
        if not is_installed(code.co_filename):
            yield from found
            found.clear()
            is_generator = code.co_flags & inspect.CO_GENERATOR and code.co_name != _EXPRESSION
            if is_generator or code.co_name in _GIVES:
                found.append(code)
        frame = frame.f_back
