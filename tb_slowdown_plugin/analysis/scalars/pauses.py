"""Pauses of a plan in step times alone: an evaluation, or a save, again and again.

Nobody measured them, so a pause is told by its shape: steps that take longer than those around
them, each time for about as long, at even distances in steps or in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.stats.noise import deviation
from tb_slowdown_plugin.analysis.stats.periods import Repeat, find_repeats
from tb_slowdown_plugin.catalog.parameters.ledger import GROWTH_FLOOR, REGULAR_GAP
from tb_slowdown_plugin.catalog.parameters.shared import (
    FAR_BEYOND,
    MAJORITY,
    MOSTLY,
    NOTABLE_GROWTH,
    OUTLIER,
    TELLING,
)
from tb_slowdown_plugin.catalog.parameters.views import FEWEST_PAUSES
from tb_slowdown_plugin.records.types import Float, Int

Mask: TypeAlias = NDArray[np.bool_]

_AROUND_ROWS: Final = 25
"""Rows whose median is the step without a pause. Chosen by hand."""
_CHUNK_ROWS: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Pauses:
    """What comes back in a run, as planned."""

    seconds: Float
    """(S,) of each row, without what later pauses take more than the first ones."""
    count: int = 0
    first_seconds: float = 0.0
    """Of one of the first third of the pauses, and of the last: medians."""
    last_seconds: float = 0.0

    @property
    def is_longer(self) -> bool:
        """Whether they get longer."""
        return (
            self.count >= FEWEST_PAUSES
            and self.last_seconds > (1 + NOTABLE_GROWTH) * self.first_seconds
        )


def find_pauses(step_seconds: Float, results: Int | None = None) -> Pauses:
    """The pauses that come back in the steps of a run.

    Args:
      step_seconds: (S,)
      results: Rows in which a result of an evaluation or of an epoch was written: where they
        are, long steps need not come evenly.

    Example:
      >>> import numpy as np
      >>> seconds = np.full(400, 1.0)
      >>> seconds[20::40] += 5.0
      >>> pauses = find_pauses(seconds)
      >>> pauses.count, pauses.first_seconds, float(pauses.seconds.sum())
      (10, 5.0, 50.0)
    """
    none = Pauses(np.zeros(len(step_seconds)))
    around = running_median(step_seconds, _AROUND_ROWS)
    if len(step_seconds) < _AROUND_ROWS or not np.all(around > 0):
        return none
    excess = step_seconds - around
    relative = excess / around
    sigma = max(deviation(relative), 1e-3)
    long = np.flatnonzero(relative > max(TELLING, OUTLIER * sigma))
    clusters = _clusters(long)
    if not clusters:
        return none
    sizes = np.array([float(excess[cluster].sum()) for cluster in clusters])
    chosen = _holds_results(clusters, results)
    if not chosen.any() and len(clusters) >= FEWEST_PAUSES:
        chosen = _comes_back(clusters, sizes, step_seconds - np.maximum(excess, 0.0))
        if not chosen.any():
            chosen = _lies_on_repeats(clusters, find_repeats(relative, sigma, step_seconds))
        if chosen.sum() < FEWEST_PAUSES:
            return none
    if not chosen.any():
        return none
    chosen = chosen & (sizes >= MAJORITY * np.median(sizes[chosen]))
    found = sizes[chosen]
    third = max(2, len(found) // 3)
    first, last = float(np.median(found[:third])), float(np.median(found[-third:]))
    is_longer = len(found) >= FEWEST_PAUSES and last > (1 + NOTABLE_GROWTH) * first
    usual = first if is_longer else FAR_BEYOND * float(np.median(found))
    seconds = np.zeros(len(step_seconds))
    for cluster, size, is_pause in zip(clusters, sizes, chosen, strict=True):
        if is_pause:
            seconds[cluster] = excess[cluster] * min(1.0, usual / size)
    if seconds.sum() < GROWTH_FLOOR * step_seconds.sum():
        return none
    return Pauses(seconds, len(found), first, last)


def _clusters(rows: Int) -> list[Int]:
    """Long rows that follow each other: of sampled points, a pause spreads over several."""
    return np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else []


def _holds_results(clusters: Sequence[Int], results: Int | None) -> Mask:
    """The clusters in which results were written, if most results were."""
    none = np.zeros(len(clusters), bool)
    if results is None or not len(results):
        return none
    near = {row + aside for row in results.tolist() for aside in (-1, 0, 1)}
    chosen = np.array([not near.isdisjoint(cluster.tolist()) for cluster in clusters])
    return chosen if chosen.sum() >= MAJORITY * len(results) else none


def _comes_back(clusters: Sequence[Int], sizes: Float, busy: Float) -> Mask:
    """All clusters, if they are alike and come evenly, in steps or in time without pauses."""
    alike = np.abs(sizes / np.median(sizes) - 1) <= MAJORITY
    middles = np.array([float(cluster.mean()) for cluster in clusters])
    at = np.cumsum(busy)[middles.astype(np.int64)]
    if np.mean(alike) >= MOSTLY and (_is_even(middles) or _is_even(at)):
        return np.asarray(alike)
    return np.zeros(len(clusters), bool)


def _lies_on_repeats(clusters: Sequence[Int], repeats: Sequence[Repeat]) -> Mask:
    rows = {int(row) for repeat in repeats for row in repeat.rows}
    return np.array([not rows.isdisjoint(cluster.tolist()) for cluster in clusters])


def running_median(values: Float, width: int) -> Float:
    """The median of `width` values around each; at the ends the series is mirrored.

    Args:
      values: (S,)
      width: Made odd, and not longer than the series.
    """
    half = max(0, min(width // 2, (len(values) - 1) // 2))
    if not half:
        return values
    padded = np.pad(values, half, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    chunks = range(0, len(values), _CHUNK_ROWS)
    return np.concatenate([np.median(windows[at : at + _CHUNK_ROWS], axis=1) for at in chunks])


def _is_even(places: Float) -> bool:
    gaps = np.diff(places)
    return bool(np.mean(np.abs(gaps / np.median(gaps) - 1) <= REGULAR_GAP) >= MOSTLY)
