"""How fast the CPU computes: the CPU time of the same small computation, now and then.

A core that others share by its second hardware thread or its caches, a lower clock, or a host
that is full: the same work takes more CPU time, and no count of the system says so.

Cost: 70 to 130 us a sample, in the background. The interpreter's lock is held for a third of it at
a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable

_TIMES: Final = 3
"""The least of so many is taken: the first one finds cold caches, and any may be interrupted."""

_ADDITIONS: Final = 300


class CpuSpeed:
    """Samples the CPU time of a fixed computation of the monitor's own."""

    name = "cpu_speed"
    in_background = True

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self._clock = clock or getattr(time, "thread_time", None)

    def start(self, context: Context) -> None:  # noqa: ARG002 - nothing to hook
        """Looks whether the system tells a thread's CPU time.

        Raises:
          Unavailable: It doesn't.
        """
        if self._clock is None:
            raise Unavailable("this system tells no CPU time of a thread")

    def read(self) -> Mapping[str, float]:
        """CPU seconds of the computation, of a few in a row the least."""
        clock = self._clock
        assert clock is not None
        took = []
        for _ in range(_TIMES):
            began = clock()
            _compute()
            took.append(clock() - began)
        return {"fixed_work_seconds": min(took)}

    def stop(self) -> None:
        """Nothing was changed."""


def _compute() -> int:
    number = 1
    for _ in range(_ADDITIONS):
        number = (number * 1_103_515_245 + 12_345) & 0x7FFFFFFF
    return number
