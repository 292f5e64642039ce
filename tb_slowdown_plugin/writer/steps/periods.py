"""Where the periods of steps begin: at the end of the step before, unless nobody was there.

`is_idle` says which gaps between steps are no training.
"""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.records.types import Idle
from tb_slowdown_plugin.writer.steps.step_buffer import (
    Opening,
    Pending,
)

NEVER: Final = -(1 << 62)

CPU_REST_NS: Final = 50_000_000
"""Least between two readings of the CPU clocks: 12 us between real steps (docs/overhead.md)."""

IDLE_SECONDS: Final = 60.0
"""A longer gap between two steps, with almost no CPU time, is idle time, not training."""

IDLE_CPU_FRACTION: Final = 0.02
"""Of one core: a waiting notebook uses less, even a slow data pipeline more."""

IDLE_NS: Final = int(IDLE_SECONDS * 1e9)


class Periods(Pending):
    """The training thread's time, cut where steps end.

    Example:
      >>> periods = Periods(Clock(), Stopwatch(Clock().monotonic_ns))
      >>> periods.open_period()
      >>> periods.open_period()
      >>> len(periods.entries)
      1
    """

    __slots__ = (
        "_append",
        "_cpu_due_ns",
        "_cpu_ns",
        "_ended_ns",
        "_monotonic_ns",
        "_process_cpu_ns",
        "_thread_cpu_ns",
        "stalled_row",
        "stopwatch",
    )

    def __init__(self, clock: Clock, stopwatch: Stopwatch) -> None:
        super().__init__(clock)
        self.stopwatch = stopwatch
        self._append = self.entries.append
        self._monotonic_ns = clock.monotonic_ns
        self._process_cpu_ns = clock.process_cpu_ns
        self._thread_cpu_ns = clock.thread_cpu_ns
        self._ended_ns = NEVER
        self._cpu_ns = 0
        self._cpu_due_ns = NEVER
        self.stalled_row = -1
        """The row of a step that the program was seen to wait for: no idle time before it."""

    @property
    def ended_ns(self) -> int:
        """When the last step ended, or the period was opened; long ago before either."""
        return self._ended_ns

    def open_period(self) -> None:
        """The first period begins now, unless one is running.

        Called at the first data fetch; a step without one opens its own.
        """
        if self._ended_ns == NEVER and self.is_mine():
            self._open(self._monotonic_ns())

    def mark(self) -> Opening:
        """Now, as a moment from which `open_since` may let the first period begin.

        What was booked before it belongs to no step.
        """
        self.stopwatch.take()
        return Opening(self._monotonic_ns(), self._process_cpu_ns(), self._thread_cpu_ns())

    def open_since(self, mark: Opening) -> None:
        """The first period began then, unless one is running."""
        if self._ended_ns == NEVER and self.is_mine():
            self._ended_ns = self._cpu_due_ns = mark.at_ns
            self._cpu_ns = mark.process_cpu_ns or 0
            self._append(mark)

    @property
    def is_begun(self) -> bool:
        """Whether a period is running."""
        return self._ended_ns != NEVER

    def is_mine(self) -> bool:
        """Whether this is the training thread; the first to ask becomes it."""
        if self.stopwatch.thread == 0:
            self.stopwatch.claim()
        return self.stopwatch.is_mine()

    def silence(self) -> None:
        """From now on nothing is kept; steps and phases stay legal. For a forked child."""
        super().silence()
        self._append = self.entries.append

    def _open(self, at_ns: int) -> None:
        self.stopwatch.take()
        self._ended_ns = at_ns
        self._cpu_ns = cpu_ns = self._process_cpu_ns()
        self._cpu_due_ns = at_ns
        self._append(Opening(at_ns, cpu_ns, self._thread_cpu_ns()))

    def _open_after_gap(self, begun_ns: int) -> None:
        if self._ended_ns == NEVER:
            self._open(begun_ns)
            return
        watch = self.stopwatch
        booked = watch.take()
        watch.booked.update(booked)
        idle_ns = begun_ns - self._ended_ns - sum(booked.values())
        cpu_ns = self._process_cpu_ns() - self._cpu_ns
        if is_idle(idle_ns, cpu_ns) and self.stalled_row != self.rows:
            self._append(Opening(self._ended_ns + idle_ns, None, None))
            self.emit(Idle(idle_ns / 1e9))


def is_idle(passed_ns: int, cpu_ns: int) -> bool:
    """Whether a gap between two steps is no training: a notebook was left alone.

    Args:
      passed_ns: How long it was, without what is known to have happened in it.
      cpu_ns: CPU time of the process meanwhile.

    Example:
      >>> is_idle(600_000_000_000, 1_000_000_000), is_idle(600_000_000_000, 60_000_000_000)
      (True, False)
    """
    return passed_ns > IDLE_NS and cpu_ns < IDLE_CPU_FRACTION * passed_ns
