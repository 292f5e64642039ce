"""The end of a warm-up: it may stop at a step, or fade out below what a change of level must have.

The excess of the first steps over the later level is taken in blocks. Caches that fill
and clocks that settle leave it to fall exponentially: where it does, the end is where
the fitted curve has fallen to 5%, the smallest change that the engine tells. Otherwise
it is where the best falling curve of any shape (Barrett et al., OOPSLA 2017: a warm-up
need not have one) falls below that.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.stats.buckets import bounded_means, bucket
from tb_slowdown_plugin.analysis.stats.growth_curve import fit_monotone
from tb_slowdown_plugin.analysis.stats.noise import best_split
from tb_slowdown_plugin.catalog.parameters.residual import RARE_LATER
from tb_slowdown_plugin.catalog.parameters.stats import (
    EXCESS,
    LATEST_WARM_UP_END,
    SMALLEST_CHANGE,
)
from tb_slowdown_plugin.records.types import Float

_NARROWEST: Final = 4
_MOST_BLOCKS: Final = 2000
_SCALES: Final = np.geomspace(0.02, 1.0, 60)
"""Time constants to try, as a share of the stretch that may be warm-up."""
_LONGEST_LOOK: Final = 1.5
"""The stretch looked at, over that which may be warm-up: the level after it must be seen."""


_SAME: Final = 3
"""Blocks by which a step may stand beside the change of level that is it."""


def find_cooled(core: Float, expected: Float, first_rows: int, warm_up_rows: int) -> int:
    """The row at which a warm-up has ended.

    Args:
      core: (S,) seconds.
      expected: (S,) seconds at the level after warm-up; 0 in steps of which nothing is known.
      first_rows: Leading rows that are far slower than all that follows.
      warm_up_rows: Rows that certainly are warm-up, `first_rows` or more; without any
        there is no end to find.

    Returns:
      `warm_up_rows`, or a better row in the first fifth of the run.
    """
    limit = int(LATEST_WARM_UP_END * len(core))
    if not warm_up_rows or limit - first_rows < 2 * _NARROWEST:
        return warm_up_rows
    excess, width = _excess_in_blocks(core, expected, first_rows)
    early = (limit - first_rows) // width
    later = excess[early:]
    excess = excess - float(np.median(later))
    sure = warm_up_rows > first_rows
    opening = float(np.median(excess[:2]))
    if not sure and opening < max(EXCESS, float(np.quantile(later, RARE_LATER))):
        return warm_up_rows
    look = np.log1p(np.maximum(excess[: int(_LONGEST_LOOK * early) + 1], -0.5))
    at, _ = best_split(look)
    step = np.where(np.arange(len(look)) < at, look[:at].mean(), 0.0)
    fading = fit_fading(look)
    if fading is None or _squares(look - step) <= _squares(look - fading):
        row = first_rows + at * width
        if sure and abs(row - warm_up_rows) <= _SAME * width:
            return warm_up_rows
        if at <= early and look[at : 2 * at].mean() < np.log1p(SMALLEST_CHANGE):
            return _place(core, expected, row, _SAME * width)
        fading = -fit_monotone(-look)
    over = np.flatnonzero(fading < np.log1p(SMALLEST_CHANGE))
    count = min(int(over[0]) if len(over) else early, early)
    return first_rows + max(count, 1) * width


def _place(core: Float, expected: Float, row: int, reach: int) -> int:
    """The row at which the excess falls, near another one."""
    rows = slice(max(0, row - reach), row + reach)
    known = (expected[rows] > 0) & (core[rows] > 0)
    ratio = np.where(known, core[rows] / np.where(known, expected[rows], 1.0), 1.0)
    bounded = np.clip(np.log(ratio), *np.quantile(np.log(ratio), (0.02, 0.98)))
    return rows.start + best_split(bounded)[0]


def _squares(residual: Float) -> float:
    return float(residual @ residual)


def _excess_in_blocks(core: Float, expected: Float, first: int) -> tuple[Float, int]:
    """The relative excess in blocks of equally many rows, from a row on, and how many.

    Outliers are drawn in; a median would leap between two sorts of steps that are mixed.
    """
    ratio = np.ones(len(core))
    np.divide(core, expected, out=ratio, where=(expected > 0) & (core > 0))
    logs = np.log(ratio)
    blocks = bucket(logs, first, most=_MOST_BLOCKS, narrowest=_NARROWEST)
    return np.expm1(bounded_means(blocks, logs)), blocks.width


def fit_fading(excess: Float) -> Float | None:
    """The logarithm of 1 + a e^(-t / tau) that fits best; None if nothing fades.

    Args:
      excess: (N,) logarithm of the step time over its level, in time.
    """
    time = np.arange(len(excess)) + 0.5
    ratio = np.expm1(excess)
    weight = np.exp(-excess)
    best, least = None, np.inf
    for tau in _SCALES * len(excess):
        shape = np.exp(-time / tau)
        height = float((shape * weight) @ (ratio * weight)) / _squares(shape * weight)
        curve = np.log1p(max(height, 0.0) * shape)
        misfit = _squares(curve - excess)
        if height > 0 and misfit < least:
            best, least = curve, misfit
    return best


def book_warm_up(excess: Float, count: int) -> Float:
    """What each step lost to warm-up.

    Steps below the level count against those above it: else noise would be a loss.

    Args:
      excess: (W,) seconds above the level, with their sign, of the warm-up's rows.
      count: Rows of the run.

    Returns:
      (count,) seconds, none negative, that sum up to the sum of `excess` if that is positive.
    """
    above = np.maximum(excess, 0.0)
    lost = np.zeros(count)
    if above.any():
        lost[: len(excess)] = above * max(float(excess.sum() / above.sum()), 0.0)
    return lost
