"""Where the program makes the next batch in Python: in the training thread, or in another one.

A `for` loop over a generator waits for it as it would for a pipeline, and no clock sees that. What
a pipeline calls runs in threads of TensorFlow's or Keras's, for which the training thread waits.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType
from typing import Final

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed, program_frame
from tb_slowdown_plugin.collectors.python.eager_operations import runs_graph
from tb_slowdown_plugin.collectors.python.sampled_frames import Place, place_of
from tb_slowdown_plugin.collectors.python.still_frames import Stack

_EXPRESSION: Final = "<genexpr>"
_GIVES: Final = frozenset({"__getitem__", "__next__"})
"""Methods by which a class of the program gives the next batch."""
_DEEPEST: Final = 100
_CALLS_FROM_PIPELINES: Final = (
    "/ops/script_ops.py",
    "/data_adapters/py_dataset_adapter.py",
    "/utils/data_utils.py",
)
"""Files of TensorFlow and Keras in which a pipeline calls Python: its generators, functions of its
stages, and the threads of a `PyDataset`."""


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


def places_of_input(stacks: Iterable[Stack]) -> Iterator[Place]:
    """The lines of the program that make input, in threads that a pipeline calls it in.

    Args:
      stacks: Of threads other than the one that trains.
    """
    for stack in stacks:
        files = (frame.f_code.co_filename.replace("\\", "/") for frame in stack)
        if any(file.endswith(_CALLS_FROM_PIPELINES) for file in files):
            place = place_of(program_frame(stack))
            if place is not None:
                yield place
