"""Whether steps take longer than they once did, told from a count and two clocks.

`StepPace` looks from a thread in the background. Cost: 1 us a note; 20 us for the CPU time of
another thread, 40 us out of a cold cache.

`LivePace` tells while a run goes on whether it is steady, and whether it became slower. Pure. By
medians of 32 steps of the most common kind; so a checkpoint, a retrace or a GC pause alone is
neither. The run is steady when three medians in a row agree within 10%, or, on a busy machine,
when twelve stay within a factor of two and the later six are no slower than the six before. It is
slower when two in a row are 25% (and half a millisecond) above the lowest steady level, or above
the level at which it was last called slower, and above all medians of that steady stretch.
"""

from __future__ import annotations

from collections import deque
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from tb_slowdown_plugin.records.types import StepTable

_NOTES: Final = 5

_STEPS: Final = 20
"""Notes and steps that a pace is taken over; fewer say little of a step."""

_SLOWER: Final = 1.15
"""A pace is slower from 15% above the best one: below that it is noise."""

Speed: TypeAlias = Literal["unsettled", "steady", "slower"]

BLOCK_STEPS: Final = 32

_STEADY_BLOCKS: Final = 3

_STEADY_WITHIN: Final = 0.10

_NOISY_BLOCKS: Final = 12

_NOISY_WITHIN: Final = 1.0

_SLOWER_BLOCKS: Final = 2

_SLOWER_BY: Final = 1.25

_LEAST_SECONDS: Final = 0.0005
"""Below that a capture of a shorter step would show the profiler itself."""


class _Note(NamedTuple):
    steps: int
    wall_ns: int
    cpu_ns: int | None


class StepPace:
    """Compares the time a step takes now with the best stretch so far.

    Example:
      >>> pace = StepPace()
      >>> for second in range(20):
      ...     pace.note(10 * second, 10**9 * second, None)
      >>> pace.is_slower
      False
      >>> for second in range(20):
      ...     pace.note(190 + 8 * second, 10**9 * (19 + second), None)
      >>> pace.is_slower
      True
    """

    def __init__(self) -> None:
        self._began: _Note | None = None
        self._notes = 0
        self._best_wall_ns = self._best_cpu_ns = float("inf")
        self.is_slower = False
        """Whether the last whole stretch was slower than the best, in wall or CPU time."""

    def note(self, steps: int, wall_ns: int, cpu_ns: int | None) -> None:
        """Adds what is known at one moment.

        Args:
          steps: Steps finished.
          wall_ns: Any monotonic clock.
          cpu_ns: CPU time of the training thread, None where it can't be read.
        """
        now = _Note(steps, wall_ns, cpu_ns)
        began = self._began
        if began is None:
            self._began = now
            return
        self._notes += 1
        done = steps - began.steps
        if self._notes < _NOTES or done < _STEPS:
            return
        self._began, self._notes = now, 0
        wall = (wall_ns - began.wall_ns) / done
        self._best_wall_ns = min(self._best_wall_ns, wall)
        self.is_slower = wall > _SLOWER * self._best_wall_ns
        if cpu_ns is not None and began.cpu_ns is not None:
            cpu = (cpu_ns - began.cpu_ns) / done
            self._best_cpu_ns = min(self._best_cpu_ns, cpu)
            self.is_slower |= cpu > _SLOWER * self._best_cpu_ns


class LivePace:
    """Is given each chunk of steps, and says what the run is.

    Example:
      >>> from tb_slowdown_plugin.records.types import no_steps
      >>> LivePace().add(no_steps())
      'unsettled'
    """

    def __init__(self) -> None:
        self._pending: list[float] = []
        self._medians: deque[float] = deque(maxlen=_NOISY_BLOCKS)
        self._level = np.inf
        self._ceiling = 0.0
        self._verdict: Speed = "unsettled"

    def add(self, steps: StepTable) -> Speed:
        """What the run is after these steps."""
        if len(steps):
            common = np.bincount(steps.kind).argmax()
            self._pending += steps.period_seconds[steps.kind == common].tolist()
        while len(self._pending) >= BLOCK_STEPS:
            block, self._pending = self._pending[:BLOCK_STEPS], self._pending[BLOCK_STEPS:]
            self.add_median(float(np.median(block)))
        return self._verdict

    def add_median(self, seconds: float) -> Speed:
        """What the run is after `BLOCK_STEPS` more steps with this median."""
        self._medians.append(seconds)
        self._judge()
        return self._verdict

    @property
    def level(self) -> float:
        """Seconds of a step at the lowest steady level, infinite before there is one."""
        return self._level

    def accept(self) -> None:
        """The level reached is known: only a still higher one is slower from now on."""
        last = list(self._medians)[-_STEADY_BLOCKS:]
        self._level = float(np.median(last)) if last else np.inf
        self._ceiling = 0.0
        self._verdict = "steady"

    def _judge(self) -> None:
        last = list(self._medians)
        calm = last[-_STEADY_BLOCKS:]
        if len(calm) == _STEADY_BLOCKS and max(calm) <= (1.0 + _STEADY_WITHIN) * min(calm):
            self._settle(calm)
        elif self._verdict == "unsettled" and _is_noisy_level(last):
            self._settle(last)
        limit = max(_SLOWER_BY * self._level, self._level + _LEAST_SECONDS, self._ceiling)
        if len(last) >= _SLOWER_BLOCKS and min(last[-_SLOWER_BLOCKS:]) > limit:
            self._verdict = "slower"
        elif self._verdict == "slower":
            self._verdict = "steady"

    def _settle(self, medians: list[float]) -> None:
        level = float(np.median(medians))
        if level < self._level:
            self._level, self._ceiling = level, max(medians)
        if self._verdict == "unsettled":
            self._verdict = "steady"


def _is_noisy_level(medians: list[float]) -> bool:
    """Whether a level holds under noise: nothing drifts, and no median is far off."""
    if len(medians) < _NOISY_BLOCKS or max(medians) > (1.0 + _NOISY_WITHIN) * min(medians):
        return False
    earlier, later = (
        np.median(medians[: _NOISY_BLOCKS // 2]),
        np.median(medians[_NOISY_BLOCKS // 2 :]),
    )
    return bool(later <= (1.0 + _STEADY_WITHIN) * earlier)
