"""The level of a series over a run: warm-up, changes, growth, and what each of them adds.

A cut into pieces (`change_points.py`) says where the level differs, `segments.py`
whether it jumped there or grew, `rises.py` what each of that added. Here it comes
together, and jumps get their row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.stats.buckets import Buckets, bounded_means
from tb_slowdown_plugin.analysis.stats.change_points import Excursion, Piece, Segmentation, segment
from tb_slowdown_plugin.analysis.stats.growth_curve import (
    find_jump,
    fit_growth,
    is_growth,
)
from tb_slowdown_plugin.analysis.stats.noise import long_run_variance
from tb_slowdown_plugin.analysis.stats.rises import Rise, find_base, find_rises
from tb_slowdown_plugin.analysis.stats.segments import (
    Part,
    confirm,
    estimate_density,
    is_curve,
    is_seam,
    join,
    place_jump,
)
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.catalog.parameters.stats import (
    LATE_CUT,
    LATEST_WARM_UP_END,
    SMALLEST_CHANGE,
)
from tb_slowdown_plugin.records.types import Float, Int

_BUCKETS_ASIDE: Final = 3
_ROWS_ASIDE: Final = 15
_ENOUGH: Final = 20_000
"""Rows from which the density of the noise is estimated."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The fitted level of a series. `B` is the number of buckets."""

    level: Float
    """(B,) in the unit of the series."""
    base: float
    """The lowest level that was held for 5% of the run after warm-up."""
    base_buckets: tuple[int, int]
    """First bucket and end of the stretch that held it."""
    rises: tuple[Rise, ...]
    warm_up: int
    """Leading buckets that were slower than what followed."""
    excursions: tuple[Excursion, ...]
    edges: Int
    """(B + 1,) rows between which each bucket's level holds; jumps stand at their very row."""
    members: NDArray[np.bool_] | None = None
    """(S,) the rows whose level it is; None for all."""

    def spread(self, values: Float) -> Float:
        """A value for each bucket -> a value for each row from `edges[0]` to the last edge."""
        return np.asarray(np.repeat(values, np.diff(self.edges)))

    def place_among(self, members: NDArray[np.bool_]) -> Trend:
        """The same trend, in rows of the whole series (S,), of which it has seen `members` only.

        Example:
          >>> trend = Trend(np.ones(2), 1.0, (0, 2), (), 0, (), np.array([0, 1, 3]))
          >>> trend.place_among(np.array([False, True, False, True, True, False])).edges.tolist()
          [1, 3, 6]
        """
        rows = np.append(np.flatnonzero(members), len(members))
        return replace(self, edges=rows[self.edges], members=members)


def fit_trend(buckets: Buckets, rows: Float, significance: float) -> Trend:
    """Fits the level of a series.

    Args:
      buckets: The series in logarithms, reduced by medians (or means).
      rows: (S,) the same series, every row.
      significance: Standard errors from which a change is believed.
    """
    means = bounded_means(buckets, rows)
    calmer = long_run_variance(means) < long_run_variance(buckets.values)
    cut = segment(means if calmer else buckets.values, significance)
    pieces = confirm(list(cut.pieces), means)
    warm_up, last_warm = 0, 0
    limit = LATEST_WARM_UP_END * len(buckets.values)
    while len(pieces) > 1 and pieces[0].end <= limit and _falls(pieces[0], pieces[1]):
        head = pieces.pop(0)
        last_warm, warm_up = head.first, head.end
    parts = join(cut, pieces)
    logs = _fit_level(cut, parts, means, significance)
    level = np.exp(logs)
    base, base_buckets = find_base(level, parts, warm_up)
    edges = buckets.start + np.arange(len(level) + 1) * buckets.width
    jumps = list(parts)
    if warm_up:
        logs[last_warm:warm_up] = cut.cleaned[last_warm:warm_up].mean()
        jumps.insert(0, Part(last_warm, warm_up, grows=False))
    if len(jumps) > 1:
        _place_jumps(edges, logs, jumps, buckets, rows)
    edges[-1] = len(rows)
    rises = find_rises(level, base, parts, warm_up, cut.variance)
    # Growth has been tested by its slope.
    sure = tuple(each for each in rises if each.pattern == "drift" or each.z >= significance)
    return Trend(level, base, base_buckets, sure, warm_up, cut.excursions, edges)


def _falls(head: Piece, following: Piece) -> bool:
    return bool(head.mean - following.start > MAJORITY * np.log1p(SMALLEST_CHANGE))


def _fit_level(cut: Segmentation, parts: list[Part], means: Float, significance: float) -> Float:
    """The level of all buckets, in logarithms.

    Joins parts that turn out to be one slope, and divides those that turn out to be one jump.
    A part is divided at most once at the same place, so that this comes to an end.
    """
    divided: set[int] = set()
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
                if at is not None and part.first + at not in divided:
                    jump = index, part.first + at
        if jump is not None:
            index, at = jump
            divided.add(at)
            whole = parts[index]
            parts[index : index + 1] = [Part(whole.first, at, False), Part(at, whole.end, False)]
            continue
        seam = next(
            (
                i
                for i in range(1, len(parts))
                if is_seam(level, *parts[i - 1 : i + 1])
                or is_curve(cut, level, *parts[i - 1 : i + 1])
            ),
            0,
        )
        if not seam:
            return level
        parts[seam - 1] = Part(parts[seam - 1].first, parts[seam].end, grows=True)
        del parts[seam]


def _place_jumps(
    edges: Int, level: Float, parts: list[Part], buckets: Buckets, rows: Float
) -> None:
    """Moves the edges at jumps to the rows where they stand, a few buckets away at most."""
    # An odd stride meets every phase of an even period, and the other way round.
    sample = np.arange(0, len(level) * buckets.width, max(1, len(rows) // _ENOUGH) | 1)
    deviations = rows[buckets.start + sample] - level[sample // buckets.width]
    density, spread = estimate_density(deviations), float(deviations.std())
    for left, right in pairwise(parts):
        before, after = float(level[left.end - 1]), float(level[right.first])
        wanted = (LATE_CUT * spread / max(abs(after - before), 1e-9)) ** 2
        reach = max(_BUCKETS_ASIDE * buckets.width, _ROWS_ASIDE, min(int(wanted), len(rows)))
        at = buckets.row(right.first)
        first = max(at - reach, buckets.row((left.first + left.end) // 2))
        end = min(at + reach, buckets.row((right.first + right.end) // 2))
        row = first + place_jump(rows[first:end], before, after, density)
        edges[:] = np.where((edges > min(row, at)) & (edges < max(row, at)), row, edges)
        edges[right.first] = row
