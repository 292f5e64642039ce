"""Parts of wide timelines, reduced once for everybody who looks at them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from tb_slowdown_plugin.analysis.views.timeline_columns import (
    Columns,
    Lists,
    Unranged,
    reduce_rows,
)
from tb_slowdown_plugin.server.runs import Analysis

_BUCKETS: Final = 64
"""Of a tile: a tenth of a view, so that little beyond its edges is reduced for nothing."""

_WIDTH_BITS: Final = 4
"""Widths of buckets have eight values an octave: views that are nearly as wide share tiles."""

_MOST: Final = 400
"""Tiles, of about 80 KB: those of some thirty views."""

_MOST_RUNS: Final = 100
"""Of which is known what does not depend on the range."""


class TimelineTiles:
    """Reduces wide ranges to buckets, for many threads; the oldest tiles are dropped.

    A bucket begins at a multiple of its width, wherever the range does, so that ranges
    have buckets in common. One thread reduces at a time: most who wait want the same.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._tiles: OrderedDict[tuple[int, int, int], Lists] = OrderedDict()
        """(analysis, width, number of the tile) -> its lists."""
        self._unranged: OrderedDict[int, Unranged] = OrderedDict()

    def unranged(self, analysis: Analysis) -> Unranged:
        """What the timeline says of all of a run."""
        with self._lock:
            found = self._unranged.get(analysis.number)
            if found is None:
                found = self._unranged[analysis.number] = Unranged.of(analysis.run)
                while len(self._unranged) > _MOST_RUNS:
                    self._unranged.popitem(last=False)
            return found

    def columns(self, analysis: Analysis, first: int, last: int, buckets: int) -> Columns:
        """A range of rows, widened to whole buckets: an eighth more than asked for, at most.

        Args:
          analysis: Of the run.
          first: First row.
          last: Last row, inclusive, of those there are.
          buckets: About how many.
        """
        width = _rounded(-(-(last + 1 - first) // buckets))
        per_tile = width * _BUCKETS
        unranged = self.unranged(analysis)
        numbers = range(first // per_tile, last // per_tile + 1)
        keys = [(analysis.number, width, number) for number in numbers]
        with self._lock:
            missing = [
                number for key, number in zip(keys, numbers, strict=True) if key not in self._tiles
            ]
            for start, end in _stretches(missing):
                end_row = min(end * per_tile, len(analysis.run.steps))
                reduced = reduce_rows(
                    analysis.run,
                    analysis.account,
                    start * per_tile,
                    end_row - 1,
                    width,
                    unranged.accounts,
                )
                for number in range(start, end):
                    at = (number - start) * _BUCKETS
                    self._tiles[analysis.number, width, number] = _part(
                        reduced.lists, at, at + _BUCKETS
                    )
            tiles = [self._tiles[key] for key in keys]
            for key in keys:
                self._tiles.move_to_end(key)
            while len(self._tiles) > max(self._most, len(keys)):
                self._tiles.popitem(last=False)
        begin = first // width
        end_row = min((last // width + 1) * width, len(analysis.run.steps))
        offset = begin - numbers.start * _BUCKETS
        joined = {
            name: list(chain.from_iterable(tile[name] for tile in tiles)) for name in tiles[0]
        }
        lists = _part(joined, offset, offset + last // width + 1 - begin)
        return Columns(begin * width, end_row - 1, width, lists)


def _rounded(width: int) -> int:
    """The next width below that has few binary digits.

    >>> [_rounded(width) for width in (1, 15, 17, 625, 2 ** 20 - 1)]
    [1, 15, 16, 576, 983040]
    """
    more = max(0, width.bit_length() - _WIDTH_BITS)
    return width >> more << more


def _stretches(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and end of each stretch of ascending numbers without a gap.

    >>> list(_stretches([3, 4, 5, 8]))
    [(3, 6), (8, 9)]
    """
    start = 0
    for place, number in enumerate(numbers):
        if place + 1 == len(numbers) or numbers[place + 1] != number + 1:
            yield numbers[start], number + 1
            start = place + 1


def _part(lists: Lists, first: int, end: int) -> Lists:
    return {name: values[first:end] for name, values in lists.items()}
