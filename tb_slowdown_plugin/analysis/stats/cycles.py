"""Values that rise in a stretch, fall back at its end, and rise again: the teeth of a saw."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.catalog.parameters.causes import LEAST_CORRELATION
from tb_slowdown_plugin.catalog.parameters.shared import (
    LARGER,
    MAJORITY,
    MATTERS,
    MOSTLY,
    SERIES,
    SEVERAL,
)
from tb_slowdown_plugin.records.types import Float, Int


class Cycle(NamedTuple):
    """A stretch in which values rise."""

    first: int
    """Its first row."""
    end: int
    """The row behind its last one."""


def find_cycles(values: Float, fewest: int = 2 * SERIES, least_falls: int = SEVERAL) -> list[Cycle]:
    """The stretches of rows in which values rise, each of which ends in a fall.

    Args:
      values: (S,) above 0.
      fewest: Rows of a stretch; shorter ones may be noise, unless something else tells them.
      least_falls: How often values have to fall at least; a few times may be by chance, as well.

    Returns:
      Nothing where values rise in no more stretches than that, or in less than most of the rows.

    Example:
      >>> saw = np.tile(np.linspace(1.0, 4.0, 50), 6)
      >>> find_cycles(saw)[:2], len(find_cycles(saw))
      ([Cycle(first=0, end=50), Cycle(first=50, end=100)], 6)
      >>> find_cycles(np.linspace(1.0, 4.0, 300))
      []
    """
    falls = _find_falls(values, fewest)
    if len(falls) < least_falls:
        return []
    edges = [0, *falls, len(values)]
    stretches = [Cycle(*pair) for pair in itertools.pairwise(edges)]
    rising = [each for each in stretches if _rises(values[each.first : each.end], fewest)]
    rows = sum(each.end - each.first for each in rising)
    return rising if len(rising) > least_falls and rows >= MOSTLY * len(values) else []


def _find_falls(values: Float, fewest: int) -> list[int]:
    """The rows from which on values are much lower than just before, ascending."""
    if len(values) < SEVERAL * fewest or not _vary(values):
        return []
    # Medians of three rows: those just before a row, and it and those behind it.
    one, two, three = values[:-2], values[1:-1], values[2:]
    near = np.maximum(np.minimum(one, two), np.minimum(np.maximum(one, two), three))
    fall = near[:-3] / near[3:]
    deep: Int = np.flatnonzero(fall > 1 + MAJORITY)
    gaps = np.flatnonzero(np.diff(deep) > 3)
    if len(gaps) > len(values) // fewest:  # so close to each other, that is noise
        return []
    groups = np.split(deep, gaps + 1)
    return [int(each[np.argmax(fall[each])]) + 3 for each in groups if len(each)]


def _vary(values: Float) -> bool:
    """Whether values vary as they do in a cycle: in most runs they don't."""
    low, high = np.quantile(values, (1 - MOSTLY, MOSTLY))
    return bool(high > LARGER * low)


def _rises(values: Float, fewest: int) -> bool:
    """Whether values rise from the first to the last of a stretch, and not at one place in it."""
    half = len(values) // 2
    return (
        len(values) >= fewest
        and _correlate(values) >= LEAST_CORRELATION
        and min(_correlate(values[:half]), _correlate(values[half:])) >= MATTERS
    )


def _correlate(values: Float) -> float:
    """The correlation of values' ranks with their order."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return float(np.corrcoef(ranks, np.arange(len(values)))[0, 1])
