"""The level of a series over a run: warm-up, changes, growth, and what each of them adds.

A cut into pieces (`changes.py`) says where the level differs, `parts.py` whether
it jumped there or grew, `rises.py` what each of that added. Here it comes
together, and jumps get their row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.buckets import Buckets
from tb_slowdown_plugin.analysis.changes import (
    SMALLEST_CHANGE,
    Excursion,
    Piece,
    Segmentation,
    segment,
)
from tb_slowdown_plugin.analysis.growth import find_jump, fit_growth, is_growth
from tb_slowdown_plugin.analysis.noise import best_split
from tb_slowdown_plugin.analysis.parts import Part, bounded_means, confirm, is_seam, join
from tb_slowdown_plugin.analysis.rises import Rise, find_base, find_rises
from tb_slowdown_plugin.records.types import Float, Int

LATEST_WARM_UP_END: Final = 0.2
"""Share of the run in which a slow beginning still is warm-up (Barrett et al. 2017)."""
_OUTLIERS: Final = 0.02
"""Share of the rows at either end that is drawn in before a jump is placed."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The fitted level of a series. `B` is the number of buckets."""

    level: Float
    """(B,) in the unit of the series."""
    base: float
    """The lowest level that was held for 5 % of the run after warm-up."""
    base_buckets: tuple[int, int]
    """First bucket and end of the stretch that held it."""
    rises: tuple[Rise, ...]
    warm_up: int
    """Leading buckets that were slower than what followed."""
    excursions: tuple[Excursion, ...]
    edges: Int
    """(B + 1,) rows between which each bucket's level holds; jumps stand at their very row."""

    def spread(self, values: Float) -> Float:
        """A value for each bucket -> a value for each row from `edges[0]` to the last edge."""
        return np.asarray(np.repeat(values, np.diff(self.edges)))


def fit_trend(buckets: Buckets, rows: Float, significance: float) -> Trend:
    """Fits the level of a series.

    Args:
      buckets: The series in logarithms, reduced by medians (or means).
      rows: (S,) the same series, every row.
      significance: Standard errors from which a change is believed.
    """
    cut = segment(buckets.values, significance)
    means = bounded_means(buckets, rows)
    pieces = confirm(list(cut.pieces), means)
    warm_up = 0
    limit = LATEST_WARM_UP_END * len(buckets.values)
    while len(pieces) > 1 and pieces[0].end <= limit and _falls(pieces[0], pieces[1]):
        warm_up = pieces.pop(0).end
    parts = join(cut, pieces)
    level = np.exp(_fit_level(cut, parts, means, significance))
    base, base_buckets = find_base(level, parts, warm_up)
    edges = buckets.start + np.arange(len(level) + 1) * buckets.width
    for part in parts[1:]:
        _place(edges, part.first, buckets, rows)
    edges[-1] = len(rows)
    rises = find_rises(level, base, parts, warm_up, cut.variance)
    # Growth has been tested by its slope.
    sure = tuple(each for each in rises if each.pattern == "drift" or each.z >= significance)
    return Trend(level, base, base_buckets, sure, warm_up, cut.excursions, edges)


def _falls(head: Piece, following: Piece) -> bool:
    return bool(head.mean - following.start > 0.6 * np.log1p(SMALLEST_CHANGE))


def _fit_level(cut: Segmentation, parts: list[Part], means: Float, significance: float) -> Float:
    """The level of all buckets, in logarithms.

    Joins parts that turn out to be one slope, and divides those that turn out to be one jump.
    """
    while True:
        level = np.array(cut.cleaned)
        jump = None
        for index, part in enumerate(parts):
            inside = cut.cleaned[part.first : part.end]
            part.grows = (
                part.grows
                and is_growth(inside, cut.variance, significance)
                and is_growth(means[part.first : part.end], cut.variance, significance)
            )
            curve = fit_growth(inside, cut.variance) if part.grows else inside.mean()
            level[part.first : part.end] = curve
            if part.grows and jump is None:
                at = find_jump(inside, curve)
                jump = None if at is None else (index, part.first + at)
        if jump is not None:
            index, at = jump
            whole = parts[index]
            parts[index : index + 1] = [Part(whole.first, at, False), Part(at, whole.end, False)]
            continue
        seam = next((i for i in range(1, len(parts)) if is_seam(level, *parts[i - 1 : i + 1])), 0)
        if not seam:
            return level
        parts[seam - 1] = Part(parts[seam - 1].first, parts[seam].end, grows=True)
        del parts[seam]


def _place(edges: Int, cut: int, buckets: Buckets, rows: Float) -> None:
    """Moves the edge at a jump to the row where it stands, at most three buckets away."""
    reach = max(3 * buckets.width, 15)
    at = buckets.row(cut)
    first, end = max(buckets.start, at - reach), min(len(rows), at + reach)
    row = first + _split(rows[first:end], at - first)
    edges[:] = np.where((edges > min(row, at)) & (edges < max(row, at)), row, edges)
    edges[cut] = row


def _split(values: Float, expected: int) -> int:
    """The row that splits a stretch best in two means; outliers count up to a bound."""
    count = len(values)
    if count < 8:
        return expected
    bounded = np.clip(values, *np.quantile(values, (_OUTLIERS, 1 - _OUTLIERS)))
    row, gain = best_split(bounded)
    return row if gain > 0 else expected
