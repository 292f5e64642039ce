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
_SEAM: Final = 0.25
"""A jump beside growth, smaller than this share of it, is where the fit of one ended."""
_LEFT_OVER: Final = 0.1
"""A rise of which less is left has ended."""
_LONGEST_DIP: Final = 0.2
_DRAWN_IN: Final = 0.995
_BORNE_OUT: Final = 0.5
"""Share of a step in the medians that the means must show, too."""
_T_OF_MEANS: Final = 4.0


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
      buckets: The series in logarithms, reduced by medians (or means).
      rows: (S,) the same series, every row.
      significance: Standard errors from which a change is believed.
    """
    cut = segment(buckets.values, significance)
    means = _bounded_means(buckets, rows)
    pieces = _confirm(list(cut.pieces), means)
    warm_up = 0
    limit = LATEST_WARM_UP_END * len(buckets.values)
    while len(pieces) > 1 and pieces[0].end <= limit and _falls(pieces[0], pieces[1]):
        warm_up = pieces.pop(0).end
    parts = _join(cut, pieces)
    level = np.exp(_fit_level(cut, parts, means, significance))
    base, base_buckets = _find_base(level, parts, warm_up)
    edges = buckets.start + np.arange(len(level) + 1) * buckets.width
    for part in parts[1:]:
        _place(edges, part.first, buckets, rows)
    edges[-1] = len(rows)
    rises = _find_rises(level, base, parts, warm_up, cut.variance)
    # Growth has been tested by its slope.
    sure = tuple(each for each in rises if each.pattern == "drift" or each.z >= significance)
    return Trend(level, base, base_buckets, sure, warm_up, cut.excursions, edges)


def _falls(head: Piece, following: Piece) -> bool:
    return bool(head.mean - following.start > 0.6 * np.log1p(SMALLEST_CHANGE))


def _bounded_means(buckets: Buckets, rows: Float) -> Float:
    """Means of the buckets, their outliers drawn in."""
    count = len(buckets.values)
    blocks = rows[buckets.start : buckets.row(count)].reshape(count, buckets.width)
    distance = blocks - buckets.values[:, None]
    sample = np.abs(distance).ravel()[:: max(1, distance.size // 100_000)]
    bound = float(np.quantile(sample, _DRAWN_IN)) if sample.size else 0.0
    return np.asarray(buckets.values + np.clip(distance, -bound, bound).mean(axis=1))


def _confirm(pieces: list[Piece], means: Float) -> list[Piece]:
    """Joins pieces whose means do not differ as their medians do.

    The median of a bucket leaps where two sorts of steps are mixed about half and
    half; the mean does not.
    """
    pieces = list(pieces)
    while len(pieces) > 1:
        support = [_support(left, right, means) for left, right in pairwise(pieces)]
        weakest = int(np.argmin(support))
        if support[weakest] >= 1:
            break
        left, right = pieces[weakest], pieces[weakest + 1]
        mean = (left.mean * left.length + right.mean * right.length) / (right.end - left.first)
        pieces[weakest : weakest + 2] = [Piece(left.first, right.end, mean, 0.0)]
    return pieces


def _support(left: Piece, right: Piece, means: Float) -> float:
    """Below 1 where the means of two pieces do not bear out the step between them."""
    if left.slope or right.slope:
        return 1.0
    before, after = means[left.first : left.end], means[right.first : right.end]
    error = np.sqrt(before.var() / left.length + after.var() / right.length)
    step = right.mean - left.mean
    difference = float(after.mean() - before.mean()) * np.sign(step)
    size = difference / (_BORNE_OUT * abs(step))
    return float(min(size, difference / max(float(error), 1e-9) / _T_OF_MEANS))


def _join(cut: Segmentation, pieces: list[Piece]) -> list[_Part]:
    """Pieces joined where the level does not jump.

    Beside the cut the level is taken over as many buckets as noise demands, but
    at most a third of a piece: the steps of a staircase that is really a slope
    rise by a third of a step there.
    """
    values = cut.cleaned
    parts = [_Part(pieces[0].first, pieces[0].end, bool(pieces[0].slope))]
    for left, right in pairwise(pieces):
        step = right.mean - left.mean
        wanted = 32 * cut.variance / step**2
        most = min(left.length, right.length) // 3
        reach = int(np.clip(wanted, 3, max(3, most)))
        # The cut may be a bucket off, and the bucket of the jump is neither here nor there.
        aside = 1 if most > reach else 0
        after = values[right.first + aside : right.first + aside + reach]
        before = values[left.end - aside - reach : left.end - aside]
        local = float(np.median(after) - np.median(before))
        if abs(local) >= _ABRUPT * abs(step) and local * step > 0:
            parts.append(_Part(right.first, right.end, bool(right.slope)))
        else:
            parts[-1].end, parts[-1].grows = right.end, True
    return parts


def _fit_level(cut: Segmentation, parts: list[_Part], means: Float, significance: float) -> Float:
    """The level of all buckets, in logarithms; joins parts that turn out to be one slope."""
    while True:
        level = np.array(cut.cleaned)
        for part in parts:
            inside = cut.cleaned[part.first : part.end]
            part.grows = (
                part.grows
                and is_growth(inside, cut.variance, significance)
                and is_growth(means[part.first : part.end], cut.variance, significance)
            )
            curve = fit_growth(inside, cut.variance) if part.grows else inside.mean()
            level[part.first : part.end] = curve
        seam = next((i for i in range(1, len(parts)) if _is_seam(level, *parts[i - 1 : i + 1])), 0)
        if not seam:
            return level
        parts[seam - 1] = _Part(parts[seam - 1].first, parts[seam].end, grows=True)
        del parts[seam]


def _is_seam(level: Float, left: _Part, right: _Part) -> bool:
    """Whether the jump between two parts is small beside the growth on one of its sides."""
    jump = abs(float(level[right.first] - level[left.end - 1]))
    growth = max(
        abs(float(level[part.end - 1] - level[part.first])) if part.grows else 0.0
        for part in (left, right)
    )
    return growth > 0 and jump < max(np.log1p(SMALLEST_CHANGE), _SEAM * growth)


def _find_base(level: Float, parts: list[_Part], warm_up: int) -> tuple[float, tuple[int, int]]:
    """The lowest level that was held, and where; a dip that the run came back from is not it."""
    count = len(level)
    held = [
        part
        for index, part in enumerate(parts)
        if part.end - part.first >= PERSISTENCE * count and not _is_dip(level, parts, index)
    ]
    if not held:
        return float(np.median(level[warm_up:])), (warm_up, count)
    best = min(held, key=lambda part: float(level[part.first : part.end].min()))
    return float(level[best.first : best.end].min()), (best.first, best.end)


def _is_dip(level: Float, parts: list[_Part], index: int) -> bool:
    """Whether a short part between two slower ones is the odd one out, rather than they."""
    part = parts[index]
    if index in (0, len(parts) - 1) or part.end - part.first > _LONGEST_DIP * len(level):
        return False
    before = level[parts[index - 1].first : parts[index - 1].end].min()
    after = level[parts[index + 1].first : parts[index + 1].end].min()
    own = level[part.first : part.end].max()
    return bool(own < before and own < after)


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
            if top.now > max(_LEFT_OVER * float(top.heights.max()), SMALLEST_CHANGE * base):
                break
            # What is left is noise in the two levels; it goes to what was there before.
            closed.append(stack.pop())
            if stack:
                stack[-1].now += top.now
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
