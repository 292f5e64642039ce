"""Whether the steps of a run have become slower for good, seen in the steps that are written.

Steps are compared with steps that do the same work: of the same kind, with the same functions
called as often. Cost: 60 us a chunk and 45 us for 32 steps, in the background.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.collectors.timing.slowdown_detector import BLOCK_STEPS, LivePace
from tb_slowdown_plugin.records.types import StepTable

SLOWER_SECONDS: Final = 20.0
"""Steps of so much time are slower before it is for good. Chosen by hand: a neighbor on the
machine that is busy for a moment is none."""
_MAX_WORKS: Final = 16
"""Sorts of work that are watched; programs with more have no two steps alike."""

_Work = tuple[int, ...]


class Slower(NamedTuple):
    """Steps have become slower, and stay so."""

    step: int
    """The step since which, within a few."""
    before: float
    """Median seconds of a step before."""
    seconds: float
    """Median seconds of a step since."""


class PaceWatch:
    """Is given the steps of each chunk."""

    def __init__(self) -> None:
        self._paces: dict[_Work, _WorkPace] = {}
        self.steps = 0
        """Steps seen."""
        self.seconds = 0.0
        """Their time."""

    def add(self, steps: StepTable) -> Iterator[Slower]:
        """What these steps bring to light; once for each level."""
        self.steps += len(steps)
        self.seconds += float(steps.period_seconds.sum())
        if not len(steps):
            return
        kinds = np.array([hash(kind) for kind in steps.kinds])[steps.kind]
        works, which = np.unique(
            np.stack((kinds, steps.ran, steps.calls), axis=1), axis=0, return_inverse=True
        )
        for index, work in enumerate(works.tolist()):
            pace = self._paces.get(tuple(work))
            if pace is None and len(self._paces) < _MAX_WORKS:
                pace = self._paces[tuple(work)] = _WorkPace()
            if pace is not None:
                its = which.reshape(-1) == index
                yield from pace.add(steps.number[its].tolist(), steps.period_seconds[its].tolist())

    def best(self) -> tuple[float, float] | None:
        """Seconds above the best steady pace, and that pace of most steps.

        None where no work became steady.
        """
        known = [pace for pace in self._paces.values() if pace.best_seconds is not None]
        if not known:
            return None
        above = sum(pace.above_best() for pace in known)
        most = max(known, key=lambda pace: pace.steps)
        return above, most.best_seconds or 0.0


class _WorkPace:
    """The pace of steps that do the same work."""

    def __init__(self) -> None:
        self._pace = LivePace()
        self._numbers: list[int] = []
        self._seconds: list[float] = []
        self._block: tuple[int, float] = 0, 0.0
        self._since: int | None = None
        self._slower: list[float] = []
        self.steps = 0
        self._total_seconds = 0.0
        self.best_seconds: float | None = None
        """The best steady level of all, None before there is one."""

    def add(self, numbers: list[int], seconds: list[float]) -> Iterator[Slower]:
        self.steps += len(numbers)
        self._total_seconds += sum(seconds)
        self._numbers += numbers
        self._seconds += seconds
        while len(self._seconds) >= BLOCK_STEPS:
            first, median = self._numbers[0], float(np.median(self._seconds[:BLOCK_STEPS]))
            del self._numbers[:BLOCK_STEPS], self._seconds[:BLOCK_STEPS]
            found = self._judge(first, median)
            if found is not None:
                yield found

    def above_best(self) -> float:
        """Seconds that all steps took above the best steady level."""
        return max(0.0, self._total_seconds - self.steps * (self.best_seconds or 0.0))

    def _judge(self, first: int, median: float) -> Slower | None:
        before, self._block = self._block, (first, median)
        level = self._pace.level
        verdict = self._pace.add_median(median)
        if verdict != "slower":
            self._since, self._slower = None, []
            if np.isfinite(self._pace.level):
                self.best_seconds = min(self.best_seconds or np.inf, self._pace.level)
            return None
        if self._since is None:
            self._since, self._slower = before[0], [before[1]]
        self._slower.append(median)
        if sum(self._slower) * BLOCK_STEPS < SLOWER_SECONDS:
            return None
        found = Slower(self._since, level, float(np.median(self._slower)))
        self._pace.accept()
        self._since, self._slower = None, []
        return found
