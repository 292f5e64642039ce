"""How much a series moves by itself: robust and long-run variance, running median, best split."""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.records.types import Float

MAD_TO_SIGMA: Final = 1.4826
"""A normal distribution's standard deviation over its median absolute deviation."""
_ENOUGH: Final = 100_000
_LONGEST_BLOCK: Final = 32
_FEWEST_BLOCKS: Final = 24


def deviation(values: Float) -> float:
    """Standard deviation, as the median absolute deviation sees it; outliers don't count.

    Of a long series every so many values are enough.
    """
    if not len(values):
        return 0.0
    # An odd stride meets every phase of an even period, and the other way round.
    sample = values[:: max(1, len(values) // _ENOUGH) | 1]
    return MAD_TO_SIGMA * float(np.median(np.abs(sample - np.median(sample))))


def long_run_variance(values: Float) -> float:
    """Variance of the mean of many values, times their number, where neighbours are alike.

    A series with slow noise has means that scatter more than white noise of the
    same variance would. The estimate is the largest over block lengths 1, 2, 4
    ... 32 of (block length x variance of block means). Differences of
    neighbouring means are taken, and their median, so that a few level shifts
    and a linear trend do not count.

    Args:
      values: (B,) an evenly spaced series.

    Returns:
      The variance, never zero.
    """
    best = 1e-12
    block = 1
    while block <= _LONGEST_BLOCK and len(values) // block >= _FEWEST_BLOCKS:
        means = values[: len(values) // block * block].reshape(-1, block).mean(axis=1)
        best = max(best, block * deviation(np.diff(means)) ** 2 / 2)
        block *= 2
    if block == 1 and len(values) > 2:
        best = max(best, float(np.var(np.diff(values))) / 2)
    return best


def running_median(values: Float, width: int) -> Float:
    """Median of the `width` (odd) values around each one; the ends are repeated."""
    half = width // 2
    padded = np.pad(values, half, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    return np.asarray(np.median(windows, axis=1))


def best_split(values: Float) -> tuple[int, float]:
    """Where to cut a series in two, each of its own mean, and the squares that it saves.

    Example:
      >>> best_split(np.array([1.0, 1.0, 1.0, 3.0, 3.0]))
      (3, 4.8)
    """
    count = len(values)
    left = np.arange(1, count)
    away = np.cumsum(values)[:-1] - left * values.mean()
    gain = away * away * count / (left * (count - left))
    best = int(np.argmax(gain))
    return best + 1, round(float(gain[best]), 12)
