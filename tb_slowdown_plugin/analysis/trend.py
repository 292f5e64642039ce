"""The level of a series over a run: warm-up, changes, growth, and what each of them adds.

A cut into pieces (`changes.py`) says where the level differs. Here it is told
whether it jumped there or grew: at a real change the level differs right
beside the cut as much as on average; in growth that was cut into a staircase
it hardly does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import numpy as np

from tb_slowdown_plugin.analysis.buckets import Buckets
from tb_slowdown_plugin.analysis.changes import (
    PERSISTENCE,
    SMALLEST_CHANGE,
    Excursion,
    Piece,
    Segmentation,
    segment,
)
from tb_slowdown_plugin.analysis.growth import fit_growth, is_growth
from tb_slowdown_plugin.analysis.noise import deviation
from tb_slowdown_plugin.records.types import Float, Int

LATEST_WARM_UP_END: Final = 0.2
"""Share of the run in which a slow beginning still is warm-up (Barrett et al. 2017)."""
_ABRUPT: Final = 0.5
"""Share of a step between two pieces that must stand right at the cut to call it a jump."""


@dataclass(frozen=True, slots=True)
class Rise:
    """One reason why the level is above its lowest: a jump, growth, or a slow first part."""

    pattern: Literal["level_shift", "drift"]
    at_start: bool
    """The run was slow from its beginning and got faster."""
    height: Float
    """(B,) what it adds to the level in each bucket, in the unit of the series."""
    before: float
    after: float
    """The level right before it and at its highest."""
    z: float
    """Standard errors of long-run noise."""


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


@dataclass(slots=True)
class _Part:
    """Consecutive pieces without a jump between them."""

    first: int
    end: int
    grows: bool


def fit_trend(buckets: Buckets, rows: Float, significance: float) -> Trend:
    """Fits the level of a series.

    Args:
      buckets: The series in logarithms, reduced.
      rows: (S,) the same series, every row; used to place jumps.
      significance: Standard errors from which a change is believed.
    """
    cut = segment(buckets.values, significance)
    pieces = list(cut.pieces)
    warm_up = 0
    limit = LATEST_WARM_UP_END * len(buckets.values)
    while len(pieces) > 1 and pieces[0].end <= limit and _falls(pieces[0], pieces[1]):
        warm_up = pieces.pop(0).end
    parts = _join(cut.cleaned, pieces)
    log_level = _fit_level(cut, parts, significance)
    level = np.exp(log_level)
    base, base_buckets = _find_base(level, parts, warm_up)
    edges = buckets.start + np.arange(len(level) + 1) * buckets.width
    for part in parts[1:]:
        _place(edges, part.first, buckets, rows)
    edges[-1] = len(rows)
    rises = _find_rises(level, base, parts, warm_up, cut.variance)
    return Trend(level, base, base_buckets, rises, warm_up, cut.excursions, edges)


def _falls(head: Piece, following: Piece) -> bool:
    return bool(head.mean - following.start > 0.6 * np.log1p(SMALLEST_CHANGE))


def _join(values: Float, pieces: list[Piece]) -> list[_Part]:
    """Pieces joined where the level does not jump."""
    reach = max(2, round(0.005 * len(values)))
    parts = [_Part(pieces[0].first, pieces[0].end, bool(pieces[0].slope))]
    for left, right in pairwise(pieces):
        cut = right.first
        local = float(np.median(values[cut : cut + reach]))
        local -= float(np.median(values[max(left.first, cut - reach) : cut]))
        step = right.mean - left.mean
        if abs(local) >= _ABRUPT * abs(step) and local * step > 0:
            parts.append(_Part(right.first, right.end, bool(right.slope)))
        else:
            parts[-1].end, parts[-1].grows = right.end, True
    return parts


def _fit_level(cut: Segmentation, parts: list[_Part], significance: float) -> Float:
    level = cut.cleaned.copy()
    for part in parts:
        inside = level[part.first : part.end]
        part.grows = part.grows and is_growth(inside, cut.variance, significance)
        curve = fit_growth(inside, cut.variance) if part.grows else inside.mean()
        level[part.first : part.end] = curve
    return level


def _find_base(level: Float, parts: list[_Part], warm_up: int) -> tuple[float, tuple[int, int]]:
    least = PERSISTENCE * len(level)
    best = (float(level[warm_up:].min()), (warm_up, len(level)))
    found = False
    for part in parts:
        if part.end - part.first < least and len(parts) > 1:
            continue
        lowest = float(level[part.first : part.end].min())
        if not found or lowest < best[0]:
            best, found = (lowest, (part.first, part.end)), True
    return best


def _place(edges: Int, cut: int, buckets: Buckets, rows: Float) -> None:
    """Moves the edge at a jump to the row where it stands, at most three buckets away."""
    reach = max(3 * buckets.width, 15)
    at = buckets.row(cut)
    first, end = max(buckets.start, at - reach), min(len(rows), at + reach)
    row = first + _split(rows[first:end], at - first)
    edges[:] = np.where((edges > min(row, at)) & (edges < max(row, at)), row, edges)
    edges[cut] = row


def _split(values: Float, expected: int) -> int:
    """The row that splits a stretch best in two levels; outliers count up to a bound."""
    if len(values) < 8:
        return expected
    third = len(values) // 3
    low, high = float(np.median(values[:third])), float(np.median(values[-third:]))
    sides = np.where(np.arange(len(values)) < expected, low, high)
    if low == high:
        return expected
    spread = 2 * max(deviation(values - sides), 1e-4)
    bounded = np.clip(values, min(low, high) - spread, max(low, high) + spread)
    advantage = np.cumsum((bounded - low) ** 2 - (bounded - high) ** 2)
    return int(np.argmin(np.concatenate([[0.0], advantage])))


@dataclass(slots=True)
class _OpenRise:
    pattern: Literal["level_shift", "drift"]
    at_start: bool
    part: int
    before: float
    now: float
    heights: Float


def _find_rises(
    level: Float, base: float, parts: list[_Part], warm_up: int, variance: float
) -> tuple[Rise, ...]:
    """Splits what is above the base into its reasons; what came last goes first."""
    count = len(level)
    part_of = np.zeros(count, np.int64)
    for index, stretch in enumerate(parts):
        part_of[stretch.first : stretch.end] = index
    above = np.maximum(level, base)
    stack: list[_OpenRise] = []
    closed: list[_OpenRise] = []
    previous = base
    for position in range(warm_up, count):
        change = float(above[position]) - previous
        part = int(part_of[position])
        grows = parts[part].grows
        jumped = position == warm_up or part != part_of[position - 1]
        if change > 0:
            top = stack[-1] if stack else None
            if jumped or top is None or top.part != part:
                pattern: Literal["level_shift", "drift"]
                pattern = "drift" if grows and not jumped else "level_shift"
                at_start = position == warm_up
                top = _OpenRise(pattern, at_start, part, previous, 0.0, np.zeros(count))
                if pattern == "level_shift":
                    top.part = -1
                stack.append(top)
            top.now += change
        while change < 0 and stack:
            top = stack[-1]
            taken = min(top.now, -change)
            top.now -= taken
            change += taken
            if top.now > 1e-12 * base:
                break
            closed.append(stack.pop())
        for rise in stack:
            rise.heights[position] = rise.now
        previous = float(above[position])
    rises = []
    for rise in closed + stack:
        after = rise.before + float(rise.heights.max())
        held = max(1, int(np.count_nonzero(rise.heights)))
        error = np.sqrt(variance * (1 / held + 1 / max(1, count - warm_up - held)))
        z = float(np.log(after / rise.before) / error) if rise.before > 0 else np.inf
        rises.append(Rise(rise.pattern, rise.at_start, rise.heights, rise.before, after, z))
    return tuple(rises)
