"""The curve through a stretch in which a step takes longer and longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.stats.noise import best_split, long_run_variance
from tb_slowdown_plugin.catalog.parameters.stats import (
    CURVE_MISFIT,
    LATEST_ONSET,
    SMALLEST_GROWTH,
)
from tb_slowdown_plugin.records.types import Float

_POWERS: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0)
_ONSETS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
_REFINEMENTS: Final = 5
"""Halvings of the distance between points of the grids: with strong growth, a power that is a
tenth off puts the level at the beginning 10% off."""
_BLOCKS: Final = 16


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

    The curve of `fit_curve`, or the monotone one where the stretch follows none.

    Args:
      values: (B,) logarithms.
      variance: Long-run variance of a bucket.

    Returns:
      (B,) logarithms.
    """
    curve = fit_curve(values, variance)
    if curve is not None:
        return curve
    third = max(1, len(values) // 3)
    rising = values[-third:].mean() >= values[:third].mean()
    return fit_monotone(values) if rising else fit_monotone(values[::-1])[::-1]


def fit_curve(values: Float, variance: float) -> Float | None:
    """The best a + b (x - c)^p for x above c, a below, fitted in relative terms.

    Memory that fills up, lists that are summed and graphs that grow do this with
    p from 1 to 2. A straight line from the beginning is tried, one that begins
    later, a power, and both: the more is left free, the better it must fit
    (Schwarz's criterion), because a free onset and a free power can stand for each
    other, and then put the level at the beginning too low.

    Args:
      values: (B,) logarithms.
      variance: Long-run variance of a bucket.

    Returns:
      (B,) logarithms; None if the stretch follows no such curve.
    """
    fits = [
        _refine(values, [(0.0, 1.0)]),
        _refine(values, [(0.0, power) for power in _POWERS], power=True),
        _refine(values, [(onset, 1.0) for onset in _ONSETS], onset=True),
        _refine(values, [(o, p) for o in _ONSETS for p in _POWERS], power=True, onset=True),
    ]
    closest = min(fits, key=_misfit)
    if closest.curve is None:
        return None
    variance = min(variance, long_run_variance(values - closest.curve))
    price = variance * np.log(len(values))
    best = min(fits, key=lambda fit: fit.misfit + fit.freedom * price)
    if best.curve is None or not _follows(values - best.curve, variance):
        return None
    return best.curve


@dataclass(frozen=True, slots=True)
class _CurveFit:
    """One curve: where its growth begins (a share of the stretch), with which power."""

    onset: float
    power: float
    curve: Float | None
    """(B,) logarithms; None if it is not positive everywhere."""
    misfit: float
    """Squares of the residual."""
    freedom: int
    """How many of onset and power were chosen to fit."""


def _misfit(fit: _CurveFit) -> float:
    return fit.misfit


def _refine(
    values: Float, grid: list[tuple[float, float]], *, onset: bool = False, power: bool = False
) -> _CurveFit:
    """The best of a grid of (onset, power), and then between its points, in halved steps."""
    weight = np.exp(-values)
    square = weight * weight
    sums = square.sum(), weight.sum()
    x = (np.arange(len(values)) + 0.5) / len(values)
    freedom = onset + power

    def attempt(first: float, exponent: float) -> _CurveFit:
        shape = np.maximum(x - first, 0.0) / (1 - first)
        if exponent != 1.0:
            shape **= exponent
        curve = _fit_curve(shape, weight, square, sums)
        if curve is None:
            return _CurveFit(first, exponent, None, np.inf, freedom)
        logs = np.log(curve)
        return _CurveFit(first, exponent, logs, float(((values - logs) ** 2).sum()), freedom)

    best = min((attempt(*each) for each in grid), key=_misfit)
    aside, factor = _ONSETS[1] / 2, 1.1
    for _ in range(_REFINEMENTS if freedom else 0):
        onsets = (best.onset - aside, best.onset, best.onset + aside) if onset else (best.onset,)
        factors = (1 / factor, 1.0, factor) if power else (1.0,)
        around = [
            attempt(first, best.power * each)
            for first in onsets
            for each in factors
            if 0 <= first < LATEST_ONSET
        ]
        best = min([best, *around], key=_misfit)
        aside, factor = aside / 2, np.sqrt(factor)
    return best


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


def _fit_curve(
    shape: Float, weight: Float, square: Float, sums: tuple[float, float]
) -> Float | None:
    """The curve a + b shape, by least squares of relative errors; None if it is not positive.

    Args:
      shape: (B,) from 0 on.
      weight: (B,) one over the value.
      square: (B,) of the weight.
      sums: Of `square` and of `weight`.
    """
    s0, t0 = sums
    s1, s2 = square @ shape, square @ (shape * shape)
    t1 = weight @ shape
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
    allowed = CURVE_MISFIT + 3 * np.sqrt(variance / len(blocks[-1]))
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
