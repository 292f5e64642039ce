"""Stretches of time: how much of each window they cover together, and without overlap."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_MOST_CUTS: Final = 2_000_000
"""At edges of windows. Stretches that would need more are left out: a few thousand that each
last for thousands of steps would become gigabytes."""
_MOST_BITS: Final = 62
"""Of a number that holds both a group and a time."""


class Windows(NamedTuple):
    """Stretches that follow one another without overlap, ascending; `W` of them."""

    begins: Ints
    """(W,) nanoseconds from the beginning of the trace."""
    ends: Ints
    """(W,)"""


class Pieces(NamedTuple):
    """Stretches, each inside one window; `P` of them."""

    source: Ints
    """(P,) index of the stretch it was cut from."""
    window: Ints
    """(P,)"""
    begins: Ints
    """(P,) nanoseconds from the beginning of its window."""
    ends: Ints
    """(P,)"""
    left_out: int
    """Stretches that would have been cut too often."""


def cut(begins: Ints, ends: Ints, windows: Windows) -> Pieces:
    """Cuts stretches at the edges of windows, and leaves out what lies in none.

    Example:
      >>> windows = Windows(np.array([0, 10]), np.array([10, 20]))
      >>> pieces = cut(np.array([5]), np.array([12]), windows)
      >>> (pieces.ends - pieces.begins).tolist()
      [5, 2]
    """
    first = np.searchsorted(windows.ends, begins, side="right")
    last = np.searchsorted(windows.begins, ends, side="left") - 1
    counts = np.maximum(last - first + 1, 0)
    too_many = (np.cumsum(np.maximum(counts - 1, 0)) > _MOST_CUTS) & (counts > 1)
    counts[too_many] = 0
    source = np.repeat(np.arange(len(begins)), counts)
    within = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
    window = first[source] + within
    zero = windows.begins[window]
    return Pieces(
        source,
        window,
        np.maximum(begins[source], zero) - zero,
        np.minimum(ends[source], windows.ends[window]) - zero,
        int(too_many.sum()),
    )


def merge(group: Ints, begins: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
    """The same stretches of each group without overlap, ascending by group and begin.

    Args:
      group: (P,) 0, 1, 2 ...
      begins: (P,) 0 or more.
      ends: (P,)
    """
    if not len(group):
        return group, begins, ends
    coarse = ((int(group.max()) + 1) * (int(ends.max()) + 2)).bit_length() - _MOST_BITS
    if coarse > 0:  # hours in which a million things happened: microseconds will do
        merged, begins, ends = merge(group, begins >> coarse, ends >> coarse)
        return merged, begins << coarse, ends << coarse
    span = int(ends.max()) + 1
    order = np.argsort(group * span + begins)
    begin_keys = (group * span + begins)[order]
    end_keys = np.maximum.accumulate((group * span + ends)[order])
    fresh = np.empty(len(order), bool)
    fresh[0] = True
    fresh[1:] = begin_keys[1:] > end_keys[:-1]
    firsts = np.flatnonzero(fresh)
    lasts = np.append(firsts[1:], len(order)) - 1
    merged = group[order][firsts]
    return merged, begin_keys[firsts] - merged * span, end_keys[lasts] - merged * span


def lengths(group: Ints, begins: Ints, ends: Ints, groups: int) -> NDArray[np.float64]:
    """(groups,) how much the stretches of each group cover together, nanoseconds.

    >>> lengths(np.array([0, 0, 1]), np.array([0, 5, 1]), np.array([7, 9, 2]), 2).tolist()
    [9.0, 1.0]
    """
    merged, begin, end = merge(group, begins, ends)
    return np.bincount(merged, weights=end - begin, minlength=groups).astype(np.float64)


class Own(NamedTuple):
    """What is left of nested stretches where those inside them are taken out; `P` pieces."""

    source: Ints
    """(P,) index of the stretch that a piece is of."""
    begins: Ints
    """(P,)"""
    ends: Ints
    """(P,)"""
    first: NDArray[np.bool_]
    """(P,) the first piece of its stretch."""


def own(begins: Ints, ends: Ints) -> Own | None:
    """Gives each moment to the innermost of the stretches around it; None where none are nested.

    Example:
      >>> found = own(np.array([0, 2]), np.array([10, 5]))
      >>> found.source.tolist(), found.begins.tolist(), found.ends.tolist()
      ([0, 1, 0], [0, 2, 5], [2, 5, 10])
    """
    order = np.lexsort((-ends, begins))
    outer = np.maximum.accumulate(ends[order])
    if len(order) < 2 or not (begins[order][1:] < outer[:-1]).any():
        return None
    empty = order[ends[order] <= begins[order]]
    order = order[ends[order] > begins[order]]
    count = len(order)
    times = np.concatenate([begins[order], ends[order]])
    edges = np.argsort(times, kind="stable")
    closed = bytearray(count)
    opened: list[int] = []
    innermost: list[int] = []
    for edge in edges.tolist():
        if edge < count:
            opened.append(edge)
        else:
            closed[edge - count] = 1
        while opened and closed[opened[-1]]:
            opened.pop()
        innermost.append(opened[-1] if opened else -1)
    owner = np.array(innermost[:-1], np.int64)
    times = times[edges]
    good = (owner >= 0) & (times[1:] > times[:-1])
    source = np.concatenate([order[owner[good]], empty])
    first = np.zeros(len(source), bool)
    first[np.unique(source, return_index=True)[1]] = True
    return Own(
        source,
        np.concatenate([times[:-1][good], begins[empty]]),
        np.concatenate([times[1:][good], begins[empty]]),
        first,
    )
