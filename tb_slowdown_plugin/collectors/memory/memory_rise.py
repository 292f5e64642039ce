"""Whether memory grows: the suspicion without which nobody looks for tensors."""

from __future__ import annotations

import itertools
from typing import Final


class MemoryRise:
    """Whether a number of bytes rises from one stretch of samples to the next.

    Of each stretch the lowest value counts: what comes and goes with a step is no rise.

    Example:
      >>> rise = MemoryRise()
      >>> for sample in range(40):
      ...     rise.note(100e6 + 1e6 * sample)
      >>> rise.is_rising
      True
      >>> for sample in range(40):
      ...     rise.note(140e6 + 50e6 * (sample % 2))
      >>> rise.is_rising
      False
      >>> rise = MemoryRise()
      >>> for sample in range(15):
      ...     rise.note(530e6 if sample < 5 else 559e6 + 0.1e6 * sample)
      >>> rise.is_rising
      False
    """

    _SAMPLES: Final = 5
    _STRETCHES: Final = 3
    _LEAST_BYTES: Final = 4 * 2**20
    """Less than what an idle process gains and loses by itself."""
    _LEAST_EACH: Final = 2**20
    """From each stretch to the next: what a program takes once, when it begins, is no rise."""

    def __init__(self) -> None:
        self._values: list[float] = []
        self._lowest: list[float] = []
        self._first: list[float] = []

    @property
    def is_rising(self) -> bool:
        """Whether the last three stretches rise, by 4 MiB in all and 1 MiB each."""
        return self._rises(self._lowest)

    @property
    def risen_bytes(self) -> float:
        """By how much the last stretch is above the lowest of the first samples."""
        last = self._lowest[-1] if self._lowest else min(self._values, default=0.0)
        return max(0.0, last - min(self._first, default=last))

    @property
    def has_risen(self) -> bool:
        """Whether the run has risen so at its end, by thirds of its samples where they are few."""
        size = len(self._first) // self._STRETCHES
        if len(self._first) == self._SAMPLES * self._STRETCHES or not size:
            return self.is_rising
        return self._rises([min(self._first[n * size :][:size]) for n in range(self._STRETCHES)])

    def _rises(self, lowest: list[float]) -> bool:
        if len(lowest) < self._STRETCHES or lowest[-1] - lowest[0] < self._LEAST_BYTES:
            return False
        steps = itertools.pairwise(lowest)
        return all(after - before >= self._LEAST_EACH for before, after in steps)

    def note(self, value: float) -> None:
        """Adds a sample."""
        self._values.append(value)
        if len(self._first) < self._SAMPLES * self._STRETCHES:
            self._first.append(value)
        if len(self._values) == self._SAMPLES:
            self._lowest = [*self._lowest[1 - self._STRETCHES :], min(self._values)]
            self._values.clear()
