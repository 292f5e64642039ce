"""How fast the training's core computes: the CPU time of a small computation, always the same.

A core that others share by its second hardware thread or its caches, a lower clock, or a host
that is full: the same work takes more CPU time, and no count of the system says so. Another
thread would not see it: it runs on another core, and beside the training.

Cost: 25 us between two steps, at most every 100 ms.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable

_EVERY: Final = 2
"""Of the moments at which the clocks of CPU time are read."""

_ADDITIONS: Final = 150

_ODD: Final = 5
"""What takes so many times the least was interrupted."""


class CpuSpeed:
    """Times a fixed computation of the monitor's own in the training thread."""

    name = "cpu_speed"
    in_background = True

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock or getattr(time, "thread_time", None)
        self._moments = 0
        self._least = float("inf")
        self._taken = self._told = (0.0, 0)
        """Seconds so far, and of how many."""

    def start(self, context: Context) -> None:
        """Asks to be called when the clocks of CPU time are read.

        Raises:
          Unavailable: This system tells no CPU time of a thread.
        """
        if self._clock is None:
            raise Unavailable("this system doesn't report the CPU time of a thread")
        self._watch = context.stopwatch
        self._watch.cpu_observer = self.compute

    def compute(self) -> None:
        """Computes twice, and times the second: the first one finds cold caches."""
        self._moments += 1
        if self._moments % _EVERY:
            return
        clock = self._clock
        assert clock is not None
        _compute()
        began = clock()
        _compute()
        took = clock() - began
        self._least = least = min(self._least, took)
        if took <= _ODD * least:
            seconds, count = self._taken
            self._taken = seconds + took, count + 1

    def read(self) -> Mapping[str, float]:
        """CPU seconds of one computation, the mean of those since it was read last."""
        taken, told = self._taken, self._told
        count = taken[1] - told[1]
        if not count:
            return {}
        self._told = taken
        return {"fixed_work_seconds": (taken[0] - told[0]) / count}

    def stop(self) -> None:
        """Is called no more."""
        self._watch.cpu_observer = None


def _compute() -> int:
    number = 1
    for _ in range(_ADDITIONS):
        number = (number * 1_103_515_245 + 12_345) & 0x7FFFFFFF
    return number
