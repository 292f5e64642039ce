"""What a few steps show: two levels, and what comes back, by the power of the data alone.

With a dozen steps neither medians of buckets nor slow noise can be estimated. What is left is
Student's question: how far apart two sets of steps are, in errors that the steps themselves make.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.stats.noise import MAD_TO_SIGMA
from tb_slowdown_plugin.analysis.stats.periods import Repeat
from tb_slowdown_plugin.analysis.stats.rises import Rise
from tb_slowdown_plugin.analysis.stats.trend import Trend
from tb_slowdown_plugin.catalog.parameters.ledger import CHANGE_OF_SHORT_RUN
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, SEVERAL, STANDS_OUT
from tb_slowdown_plugin.catalog.parameters.stats import EXCESS, MEANS_SIGNIFICANCE
from tb_slowdown_plugin.records.types import Float

_LEAST_NOISE: Final = 0.01
"""Relative; a dozen equal steps are not a clock without noise."""


def find_two_levels(logs: Float, start: int) -> Trend | None:
    """The trend of a few steps that jump once, to a higher level; None where they don't.

    Args:
      logs: (S,) logarithms of each step over the usual one.
      start: First row to look at.

    Example:
      >>> steps = np.log([1.0, 1.02, 0.99, 1.01, 1.0, 1.02, 1.5, 1.53, 1.49, 1.5, 1.52, 1.51])
      >>> find_two_levels(steps, 0).rises[0].pattern, find_two_levels(steps[::-1], 0)
      ('level_shift', None)
    """
    values = logs[start:]
    count = len(values)
    if count < 2 * SEVERAL:
        return None
    cuts = range(SEVERAL, count - SEVERAL + 1)
    cut = min(cuts, key=lambda cut: _scatter(values[:cut]) + _scatter(values[cut:]))
    z = stand_out(values[cut:], values[:cut])
    if z < MEANS_SIGNIFICANCE:
        return None
    before, after = float(np.median(values[:cut])), float(np.median(values[cut:]))
    if after - before < np.log1p(CHANGE_OF_SHORT_RUN):
        return None
    level = np.exp(np.where(np.arange(count) < cut, before, after))
    rise = Rise(
        pattern="level_shift",
        at_start=False,
        height=level - level[0],
        before=float(level[0]),
        after=float(level[-1]),
        z=z,
    )
    edges = start + np.arange(count + 1)
    return Trend(level, float(level[0]), (0, cut), (rise,), 0, (), edges)


def find_period(residual: Float, start: int) -> Repeat | None:
    """The slow steps that come back every so many; None where none do.

    Each turn must be slow, and no other step half as slow: a few stalls anywhere are no period.

    Args:
      residual: (S,) relative excess of each step over its level, of the first steps, too.
      start: First row after warm-up.

    Example:
      >>> found = find_period(np.tile([0.01, 0.0, 0.02, 1.0], 3), 0)
      >>> found.period, found.rows.tolist()
      (4, [3, 7, 11])
    """
    best: Repeat | None = None
    for period in range(2, len(residual) // SEVERAL + 1):
        for phase in range(period):
            rows = np.arange(phase, len(residual), period)
            if len(rows) < SEVERAL:
                continue
            others = np.ones(len(residual), bool)
            others[:start] = False
            others[rows] = False
            slow, rest = residual[rows], residual[others]
            height = float(np.median(slow))
            if len(rest) < SEVERAL or height < EXCESS or slow.min() < MAJORITY * height:
                continue
            z = stand_out(slow, rest)
            if rest.max() < MAJORITY * height and z > (best.z if best else MEANS_SIGNIFICANCE):
                best = Repeat(period, (rows,), z)
    return best


def stand_out(higher: Float, lower: Float) -> float:
    """Standard errors by which the first values lie above the second, as of normal noise.

    Student's t with the scatter around both means, outliers drawn in, as the z that is as rare
    (Wallace 1959).

    Example:
      >>> round(stand_out(np.array([5.0, 6.0, 7.0]), np.array([1.0, 2.0, 3.0])), 1)
      2.6
    """
    sides = [_draw_in(higher), _draw_in(lower)]
    freedom = len(higher) + len(lower) - 2
    squares = sum(float(np.sum((side - side.mean()) ** 2)) for side in sides)
    noise = max(np.sqrt(squares / freedom), _LEAST_NOISE)
    error = noise * np.sqrt(1 / len(higher) + 1 / len(lower))
    t = float(sides[0].mean() - sides[1].mean()) / error
    z = (8 * freedom + 1) / (8 * freedom + 3) * np.sqrt(freedom * np.log1p(t * t / freedom))
    return float(np.copysign(z, t))


def _scatter(values: Float) -> float:
    return float(np.abs(values - np.median(values)).sum())


def _draw_in(values: Float) -> Float:
    """The values, outliers at most three deviations from the middle."""
    middle = float(np.median(values))
    spread = STANDS_OUT * MAD_TO_SIGMA * float(np.median(np.abs(values - middle)))
    return np.asarray(np.clip(values, middle - spread, middle + spread))
