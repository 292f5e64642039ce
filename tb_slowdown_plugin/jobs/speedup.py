"""By how much an intervention makes steps faster, with an interval: pure functions.

A run's level is the median of the means of blocks of its steps: a mean, so that a batch that
only every tenth step waits for counts, and a median, so that one disturbance doesn't. Where an
intervention saves time in a few steps, it is the mean of all.

The interval is that of Welch's two samples, the logarithms of the levels of the runs, with one
variance. It never falls below what the blocks within the runs and two processes of the same
program differ by: with three repeats, levels that happen to agree prove little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.stats.noise import deviation

Float: TypeAlias = NDArray[np.float64]

MIN_STEPS: Final = 10
"""Steps after the warm-up that a run must have."""
_MIN_WARM_UP: Final = 5
_WARM_UP_SHARE: Final = 0.2
"""First steps that are left out: tracing, cold caches, batches that are replayed later."""
_BLOCKS: Final = 10
_PROCESS_NOISE: Final = 0.005
"""Standard deviation of the level from process to process that no interval falls below: where
memory happens to be costs or saves that much. Chosen by hand."""
_MEDIAN_VARIANCE: Final = math.pi / 2
"""Variance of a median over that of a mean of as many normal values."""
_NARROW: Final = 0.03
_NARROW_SHARE: Final = 0.1
_NORMAL_99: Final = 2.5758
_STUDENT_99: Final = {2: 9.925, 4: 4.604, 6: 3.707, 8: 3.355}
"""Two-sided 99% quantiles of Student's t by degrees of freedom."""


@dataclass(frozen=True, slots=True)
class Level:
    """The step time of one run."""

    seconds: float
    variance: float
    """Of the logarithm of `seconds`, from the blocks of the run."""


@dataclass(frozen=True, slots=True)
class Speedup:
    """What an intervention does to the step time."""

    before_seconds: float
    after_seconds: float
    ratio: float
    """Before over after: more than 1 is faster."""
    low: float
    high: float
    """The 99% interval of the ratio."""

    @property
    def is_narrow(self) -> bool:
        """Whether more repeats would not say more: 3%, or 10% of a large effect."""
        half = math.log(self.high / self.low) / 2
        return half <= max(_NARROW, _NARROW_SHARE * abs(math.log(self.ratio)))


def settled_steps(ended_seconds: Float, batches: Float) -> tuple[Float, Float]:
    """Seconds and batches of the steps after the warm-up.

    Args:
      ended_seconds: (S,) when each step ended.
      batches: (S,) batches in it.

    Example:
      >>> seconds, batches = settled_steps(np.arange(20.0), np.ones(20))
      >>> len(seconds), float(batches.sum())
      (15, 15.0)
    """
    first = max(_MIN_WARM_UP, int(len(ended_seconds) * _WARM_UP_SHARE))
    return np.diff(ended_seconds)[first - 1 :], batches[first:]


def measure_level(seconds: Float, batches: Float, *, is_rare: bool) -> Level:
    """The time per batch of a run.

    Args:
      seconds: (S,) of its steps.
      batches: (S,) in each.
      is_rare: Whether the few slow steps are what is looked for.
    """
    blocks = min(_BLOCKS, len(seconds))
    means = np.array(
        [
            part.sum() / weights.sum()
            for part, weights in zip(
                np.array_split(seconds, blocks), np.array_split(batches, blocks), strict=True
            )
        ]
    )
    if is_rare:
        level = float(seconds.sum() / batches.sum())
        variance = float(np.var(means, ddof=1)) / blocks if blocks > 1 else 0.0
    else:
        level = float(np.median(means))
        sigma = deviation(means)
        variance = _MEDIAN_VARIANCE * sigma**2 / blocks
    return Level(level, variance / level**2)


def estimate_speedup(before: Sequence[Level], after: Sequence[Level]) -> Speedup | None:
    """The speed-up between runs as they are and runs with an intervention; None for one of each.

    Args:
      before: Two or more.
      after: As many.

    Example:
      >>> found = estimate_speedup([Level(2.0, 0.0)] * 3, [Level(1.0, 0.0)] * 3)
      >>> round(found.low, 2), found.ratio, round(found.high, 2), found.is_narrow
      (1.98, 2.0, 2.02, True)
    """
    runs = min(len(before), len(after))
    if runs < 2:
        return None
    logs = [np.log([level.seconds for level in side[:runs]]) for side in (before, after)]
    between = sum(float(np.var(side, ddof=1)) for side in logs) / runs
    levels = (*before[:runs], *after[:runs])
    within = sum(level.variance for level in levels) / runs**2 + 2 * _PROCESS_NOISE**2 / runs
    freedom = 2 * (runs - 1)
    half = max(_student_99(freedom) * math.sqrt(between), _NORMAL_99 * math.sqrt(within))
    first, second = (float(side.mean()) for side in logs)
    middle = first - second
    return Speedup(
        math.exp(first),
        math.exp(second),
        math.exp(middle),
        math.exp(middle - half),
        math.exp(middle + half),
    )


def _student_99(freedom: int) -> float:
    """The quantile; above the table by its expansion in 1 / `freedom`.

    Example:
      >>> _student_99(4), round(_student_99(10), 2)
      (4.604, 3.16)
    """
    z = _NORMAL_99
    return _STUDENT_99.get(freedom) or (
        z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    )
