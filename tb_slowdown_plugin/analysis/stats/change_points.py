"""Where a series changes its level: exact segmentation, then doubt.

Optimal partitioning (Jackson et al. 2005; PELT without the pruning, which a
thousand buckets don't need) into pieces that are constant or linear, with a
penalty made of the long-run variance, so that slow noise makes no changes.
What it proposes is then verified from the bottom up, as Apache Otava does, by
size and by significance, and must persist.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.stats.noise import (
    MAD_TO_SIGMA,
    deviation,
    long_run_variance,
    running_median,
)
from tb_slowdown_plugin.catalog.parameters.shared import FAR_BEYOND
from tb_slowdown_plugin.catalog.parameters.stats import (
    CONSTANT_PENALTY,
    LINEAR_PENALTY,
    PERSISTENCE,
    SHORTEST_LINE,
    SHORTEST_PIECE,
    SIGNIFICANCE,
    SMALLEST_CHANGE,
)
from tb_slowdown_plugin.records.types import Float, Int

_LEAST_VARIANCE: Final = 1e-7
"""Of a bucket; a series without any noise would be cut at its rounding errors."""
_FEWEST_MEANS: Final = 3
_ENDS_AT_ONCE: Final = 16
"""Half the time of one after the other; with more, the arrays leave the nearest cache."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Buckets `first` to `end - 1` of a series of logarithms, and the line through them."""

    first: int
    end: int
    mean: float
    slope: float
    """Change from one bucket to the next; 0 in a constant piece."""

    @property
    def length(self) -> int:
        """Buckets in it."""
        return self.end - self.first

    @property
    def start(self) -> float:
        """Level at its first bucket."""
        return self.mean - self.slope * (self.length - 1) / 2

    @property
    def stop(self) -> float:
        """Level at its last bucket."""
        return self.mean + self.slope * (self.length - 1) / 2


@dataclass(frozen=True, slots=True)
class Excursion:
    """A stretch that left the level and came back before it could be believed."""

    first: int
    end: int
    unfinished: bool
    """It reaches to the end of the run: it may still become a change."""


@dataclass(frozen=True, slots=True)
class Segmentation:
    """Pieces that cover all buckets, what was taken for an excursion, and the noise."""

    pieces: tuple[Piece, ...]
    excursions: tuple[Excursion, ...]
    variance: float
    """Long-run variance of a bucket."""
    cleaned: Float
    """(B,) the series without spikes and excursions."""


def segment(values: Float, significance: float = SIGNIFICANCE) -> Segmentation:
    """Cuts a series into pieces of one level or one slope.

    Args:
      values: (B,) logarithms, B up to a few thousand: time grows with its square.
      significance: Standard errors from which a change is believed.

    Returns:
      At least one piece. A change stands between two pieces if it is at least 5%
      and `significance` standard errors, and lasts for 5% of the buckets.
    """
    count = len(values)
    shortest = max(4, round(SHORTEST_PIECE * count))
    if count < 2 * shortest:
        piece = _fit(values, 0, count, linear=False)
        return Segmentation((piece,), (), long_run_variance(values), values)
    cleaned = _clip_spikes(values, 2 * shortest + 1)
    variance = max(long_run_variance(cleaned), _LEAST_VARIANCE)
    persistent = max(shortest + 1, int(PERSISTENCE * count))
    excursions: list[Excursion] = []
    drawn_in: set[tuple[int, int]] = set()
    while True:
        pieces = _partition(cleaned, variance, shortest)
        pieces = _verify(cleaned, pieces, variance, significance)
        brief = _find_brief(pieces, persistent, drawn_in)
        if brief is None:
            return Segmentation(tuple(pieces), tuple(excursions), variance, cleaned)
        position, level = brief
        piece = pieces[position]
        drawn_in.add((piece.first, piece.end))
        excursions.append(Excursion(piece.first, piece.end, piece.end == count))
        cleaned[piece.first : piece.end] += level - piece.mean


def _clip_spikes(values: Float, width: int) -> Float:
    """Draws spikes in to three deviations around the running median.

    The deviation is that of the neighbourhood, where that is larger: a busy
    machine makes steps not only slower but less even.
    """
    middle = running_median(values, width)
    distance = np.abs(values - middle)
    around = MAD_TO_SIGMA * running_median(distance, 4 * width + 1)
    spread = 3 * np.maximum(around, max(deviation(values - middle), 1e-4))
    return _settle_jumps(np.clip(values, middle - spread, middle + spread), middle, spread)


def _settle_jumps(values: Float, middle: Float, spread: Float) -> Float:
    """Puts a bucket in which the level jumps on one of its two levels.

    Some of its rows are before the jump and some after it, so it is on neither, and the running
    median is the bucket itself. Where steps take many times as long from then on, it would be so
    far from both that a curve of growth through all three fits better than two levels.
    """
    before, after = middle[:-2], middle[2:]
    low, high = np.minimum(before, after), np.maximum(before, after)
    inside, aside = values[1:-1], spread[1:-1]
    lone = (low + aside < inside) & (inside < high - aside) & (high - low > np.log(FAR_BEYOND))
    flat = np.abs(np.diff(middle)) <= spread[1:]
    lone[0] = lone[-1] = False
    lone[1:-1] &= flat[:-3] & flat[3:]
    nearer = np.where(np.abs(inside - before) <= np.abs(inside - after), before, after)
    settled = np.array(values)
    settled[1:-1][lone] = nearer[lone]
    return settled


def _fit(values: Float, first: int, end: int, *, linear: bool) -> Piece:
    part = values[first:end]
    mean = float(part.mean()) if len(part) else 0.0
    if not linear or len(part) < 2:
        return Piece(first, end, mean, 0.0)
    x = np.arange(len(part)) - (len(part) - 1) / 2
    return Piece(first, end, mean, float(x @ part / (x @ x)))


def _partition(values: Float, variance: float, shortest: int) -> list[Piece]:
    """The cheapest cut into constant and linear pieces; each costs its squares and a penalty."""
    count = len(values)
    x = np.arange(count) - count / 2.0
    sums = [np.concatenate([[0.0], np.cumsum(v)]) for v in (values, x, x * values, values**2)]
    sum_y, sum_x, sum_xy, sum_yy = sums
    constant = CONSTANT_PENALTY * variance * np.log(count)
    linear = LINEAR_PENALTY * variance * np.log(count)
    shortest_line = max(2 * shortest, int(SHORTEST_LINE * count))
    cost = np.full(count + 1, np.inf)
    cost[0] = 0.0
    begin = np.zeros(count + 1, np.int64)
    is_line = np.zeros(count + 1, bool)
    # So many ends at once: no piece that ends at one of them can begin at another.
    block = min(shortest, _ENDS_AT_ONCE)
    for first in range(shortest, count + 1, block):
        ends = np.arange(first, min(first + block, count + 1))
        end = ends[:, None]
        start = np.arange(int(ends[-1]) - shortest + 1)
        length = (end - start).astype(np.float64)
        total = sum_y[end] - sum_y[start]
        candidates = sum_yy[end] - sum_yy[start] - total * total / length
        candidates += cost[start]
        best, cheapest = _find_cheapest(candidates, length >= shortest)
        cost[ends], begin[ends] = cheapest + constant, best
        start = np.arange(int(ends[-1]) - shortest_line + 1)
        if len(start):
            length, total = length[:, : len(start)], total[:, : len(start)]
            centred = sum_xy[end] - sum_xy[start]
            centred -= (sum_x[end] - sum_x[start]) * total / length
            gain = centred * centred / (length * (length * length - 1) / 12)
            candidates = candidates[:, : len(start)] - gain
            best, cheapest = _find_cheapest(candidates, length >= shortest_line)
            better = cheapest + linear < cost[ends]
            cost[ends[better]] = cheapest[better] + linear
            begin[ends[better]], is_line[ends[better]] = best[better], True
    pieces = []
    last = count
    while last > 0:
        start_of_last = int(begin[last])
        pieces.append(_fit(values, start_of_last, last, linear=bool(is_line[last])))
        last = start_of_last
    return pieces[::-1]


def _find_cheapest(candidates: Float, allowed: NDArray[np.bool_]) -> tuple[Int, Float]:
    """The first of the cheapest allowed candidates in each row, and what it costs."""
    allowed_only = np.where(allowed, candidates, np.inf)
    best = allowed_only.argmin(axis=1)
    return best, allowed_only[np.arange(len(best)), best]


def _verify(
    values: Float, pieces: list[Piece], variance: float, significance: float
) -> list[Piece]:
    """Joins neighbours, the least different first, until all changes are worth telling."""
    pieces = list(pieces)
    differences = np.diff(values)
    # How much slow noise adds to the variance of neighbours' differences, over the run.
    slowness = min(variance / max(deviation(differences) ** 2 / 2, _LEAST_VARIANCE), 32.0)

    def noise_in(piece: Piece) -> float:
        own = deviation(differences[piece.first : piece.end - 1]) ** 2 / 2
        # Where the rest of the run is even, slowness by its measure says nothing of this piece.
        return max(variance, min(slowness * own, 2 * _spread_of_means(values, piece)))

    noises = [noise_in(piece) for piece in pieces]
    while len(pieces) > 1:
        worth = [
            _worth(left, right, *around, significance)
            for (left, right), around in zip(pairwise(pieces), pairwise(noises), strict=True)
        ]
        weakest = int(np.argmin(worth))
        if worth[weakest] >= 1:
            break
        left, right = pieces[weakest], pieces[weakest + 1]
        joined = _fit(values, left.first, right.end, linear=bool(left.slope or right.slope))
        pieces[weakest : weakest + 2] = [joined]
        noises[weakest : weakest + 2] = [noise_in(joined)]
    return pieces


def _spread_of_means(values: Float, piece: Piece) -> float:
    """Long-run variance as a piece itself shows it: its level may move, so it is never small."""
    part = values[piece.first : piece.end]
    largest = np.inf if len(part) < 2 * _FEWEST_MEANS else 0.0
    block = 1
    while len(part) // block >= _FEWEST_MEANS:
        means = part[: len(part) // block * block].reshape(-1, block).mean(axis=1)
        largest = max(largest, block * float(means.var(ddof=1)))
        block *= 2
    return largest


def _worth(
    left: Piece, right: Piece, left_noise: float, right_noise: float, significance: float
) -> float:
    """Below 1 where the step between two pieces is too small or could be noise."""
    error = np.sqrt(left_noise / left.length + right_noise / right.length)
    difference = abs(right.mean - left.mean)
    if left.slope or right.slope:
        # A bend without a step is a change too: the whole difference counts.
        difference = max(abs(right.start - left.stop), difference)
        error *= 2
    size = difference / np.log1p(SMALLEST_CHANGE)
    return float(min(size, difference / error / significance))


def _find_brief(
    pieces: list[Piece], persistent: int, drawn_in: set[tuple[int, int]]
) -> tuple[int, float] | None:
    """A piece that does not last, and the level to put in its place; the head may be warm-up.

    What was `drawn_in` before and still is a piece is the end of a slope.
    """
    if len(pieces) < 2:
        return None
    for position, piece in enumerate(pieces):
        if piece.length >= persistent or (piece.first, piece.end) in drawn_in:
            continue
        before = pieces[position - 1] if position else None
        after = pieces[position + 1] if position + 1 < len(pieces) else None
        if before is None:
            assert after is not None
            if piece.mean > after.start or _climbs(piece, *pieces[1:3]):
                continue
            return position, after.start
        if after is None:
            if _climbs(piece, *pieces[-3:-1]):
                continue
            return position, before.stop
        if _leads_down(pieces[: position + 2]) or before.stop < piece.mean < after.start:
            continue
        longer_before = before.length > after.length
        return position, before.stop if longer_before else after.start
    return None


def _climbs(brief: Piece, *others: Piece) -> bool:
    """Whether a short piece at an end of the run is one end of growth, by the next two pieces.

    A fast first stretch before one level (a queue that fills) is not.
    """
    inward = sorted([brief, *others], key=lambda piece: piece.first)
    rises = all(left.mean < right.mean for left, right in pairwise(inward))
    return rises and (len(others) > 1 or others[0].slope > 0)


def _leads_down(pieces: list[Piece]) -> bool:
    """Whether each piece is faster than the one before: a warm-up that ends in steps."""
    return all(left.mean > right.mean for left, right in pairwise(pieces))
