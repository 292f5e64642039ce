"""Passes over a dataset in which nothing is done with its batches, such as to count them.

Batch after batch is fetched, no step ends meanwhile, and next to no time passes between two.

Cost: 0.1 us a fetch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Final

from tb_slowdown_plugin.catalog.events import UNUSED_PASS
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_frame
from tb_slowdown_plugin.collectors.hooks.source_location import (
    COMPREHENSIONS,
    SourcePlaces,
    line_of,
)
from tb_slowdown_plugin.records.types import Fact

_BETWEEN_NS: Final = 50_000
"""Between two batches, on average: to start one operation of TensorFlow takes longer."""
_FEWEST: Final = 3
"""Batches of a pass."""
_MOST_LINES: Final = 5
_EACH: Final = 8
"""Passes of a line of which each is told; after them, of so many the last."""


class _BegunPass:
    """One that has begun."""

    __slots__ = ("began_ns", "fetched", "steps", "waited_ns")

    def __init__(self, began_ns: int, waited_ns: int, steps: int) -> None:
        self.began_ns = began_ns
        self.waited_ns = waited_ns
        """Of the step under way, until then."""
        self.steps = steps
        self.fetched = 0


class _PassedLine:
    """What one line of the program has done so far."""

    def __init__(self) -> None:
        self.passes = self.batches = 0
        self.seconds = 0.0
        self.is_told = True


class UnusedPasses:
    """Tells the lines that go through a dataset so, with what these passes waited.

    Args:
      context: Takes the facts.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._now_ns: Callable[[], int] = context.clock.monotonic_ns
        self._places = SourcePlaces.of_process()
        self._lines: dict[str, _PassedLine] = {}

    def begin(self) -> _BegunPass:
        """The first batch of an iterator is about to be fetched."""
        waited_ns = self._context.stopwatch.waited_ns
        return _BegunPass(self._now_ns(), waited_ns, self._context.steps_finished())

    def end(self, of: _BegunPass) -> None:
        """There are no more batches; the training thread has asked."""
        if of.fetched < _FEWEST or of.steps != self._context.steps_finished():
            return
        passed_ns = self._now_ns() - of.began_ns
        waited_ns = self._context.stopwatch.waited_ns - of.waited_ns
        if passed_ns - waited_ns > of.fetched * _BETWEEN_NS:
            return
        frame = calling_frame(sys._getframe(1))
        while frame is not None and frame.f_code.co_name in COMPREHENSIONS:
            frame = calling_frame(frame.f_back)
        if frame is None:
            return
        place = self._places.in_code(frame.f_code, line_of(frame))
        if place not in self._lines and len(self._lines) >= _MOST_LINES:
            return
        line = self._lines.setdefault(place, _PassedLine())
        line.passes += 1
        line.batches += of.fetched
        line.seconds += passed_ns / 1e9
        line.is_told = line.passes <= _EACH or not line.passes % _EACH
        if line.is_told:
            self._tell(place, line)

    def stop(self) -> None:
        """Tells what was not told yet."""
        for place, line in self._lines.items():
            if not line.is_told:
                self._tell(place, line)

    def _tell(self, place: str, line: _PassedLine) -> None:
        numbers = {"passes": line.passes, "batches": line.batches, "seconds": line.seconds}
        self._context.emit(Fact(UNUSED_PASS, place, numbers))
