"""The curve through a stretch in which a step takes longer and longer."""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.noise import best_split
from tb_slowdown_plugin.records.types import Float

SMALLEST_GROWTH: Final = 0.08
"""Growth over a stretch that is worth telling; less is told apart from slow noise too rarely."""
_POWERS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0)
_ONSETS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
_BLOCKS: Final = 16
_MISFIT: Final = 0.01
"""Relative difference of a sixteenth of the stretch from the curve that is still the curve."""


def is_growth(values: Float, variance: float, significance: float) -> bool:
    """Whether a stretch of logarithms rises or falls by more than noise does.

    Args:
      values: (B,) one for each bucket.
      variance: Long-run variance of a bucket.
      significance: Standard errors that the slope must have.
    """
    count = len(values)
    if count < 4:
        return False
    x = np.arange(count) - (count - 1) / 2
    change = abs(float(x @ values / (x @ x))) * count
    error = np.sqrt(12 * variance / count)
    return bool(change >= max(np.log1p(SMALLEST_GROWTH), significance * error))


def fit_growth(values: Float, variance: float) -> Float:
    """The level in a stretch that grows or shrinks, without its noise.

    a + b (x - c)^p for x above c, a below, fitted in relative terms: memory that
    fills up, lists that are summed and graphs that grow do this with p from 1
    to 2. A stretch that follows no such curve gets the monotone one.

    Args:
      values: (B,) logarithms.
      variance: Long-run variance of a bucket.

    Returns:
      (B,) logarithms.
    """
    count = len(values)
    x = (np.arange(count) + 0.5) / count
    weight = np.exp(-values)
    best: Float | None = None
    least = np.inf
    for onset in _ONSETS:
        above = np.clip(x - onset, 0.0, None) / (1 - onset)
        for power in _POWERS:
            curve = _fit_curve(above**power, weight)
            if curve is None:
                continue
            error = float(np.sum((values - np.log(curve)) ** 2))
            if error < least:
                best, least = np.log(curve), error
    if best is not None and _follows(values - best, variance):
        return best
    third = max(1, count // 3)
    rising = values[-third:].mean() >= values[:third].mean()
    return fit_monotone(values) if rising else fit_monotone(values[::-1])[::-1]


def find_jump(values: Float, curve: Float) -> int | None:
    """Where a stretch jumps, if two levels fit it better than the curve of its growth.

    Args:
      values: (B,) logarithms.
      curve: (B,) from `fit_growth`.

    Returns:
      The first bucket after the jump, at least a twentieth from either end.
    """
    at, saved = best_split(values)
    margin = len(values) // 20
    squares = float(np.sum((values - values.mean()) ** 2)) - saved
    better = squares < float(np.sum((values - curve) ** 2))
    return at if better and margin < at < len(values) - margin else None


def _fit_curve(shape: Float, weight: Float) -> Float | None:
    """The curve a + b shape, by least squares of relative errors; None if it is not positive."""
    square = weight * weight
    s0, s1, s2 = square.sum(), square @ shape, square @ (shape * shape)
    t0, t1 = weight.sum(), weight @ shape
    determinant = s0 * s2 - s1 * s1
    if determinant <= 1e-12 * s0 * s2:
        return None
    a = (t0 * s2 - t1 * s1) / determinant
    b = (t1 * s0 - t0 * s1) / determinant
    curve = a + b * shape
    return np.asarray(curve) if curve.min() > 0 else None


def _follows(residual: Float, variance: float) -> bool:
    blocks = np.array_split(residual, min(_BLOCKS, len(residual)))
    means = np.array([block.mean() for block in blocks])
    allowed = _MISFIT + 3 * np.sqrt(variance / len(blocks[-1]))
    return bool(np.abs(means).max() <= allowed)


def fit_monotone(values: Float) -> Float:
    """Least squares among all series that never fall (pool adjacent violators).

    Example:
      >>> fit_monotone(np.array([1.0, 3.0, 2.0, 4.0])).tolist()
      [1.0, 2.5, 2.5, 4.0]
    """
    means: list[float] = []
    counts: list[int] = []
    for value in values:
        mean, count = float(value), 1
        while means and means[-1] >= mean:
            mean = (mean * count + means[-1] * counts[-1]) / (count + counts[-1])
            count += counts.pop()
            means.pop()
        means.append(mean)
        counts.append(count)
    return np.repeat(means, counts)
