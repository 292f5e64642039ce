"""Parts of wide timelines, reduced and encoded once for everybody who looks at them."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np

from tb_slowdown_plugin.analysis.views.signal_lanes import (
    extremes,
    lane_of,
    most_values,
    samples_in_view,
)
from tb_slowdown_plugin.analysis.views.timeline_columns import (
    Columns,
    Lists,
    Unranged,
    numbers,
    reduce_rows,
)
from tb_slowdown_plugin.records.types import Int
from tb_slowdown_plugin.report.json_body import Encoded
from tb_slowdown_plugin.server.analyses.analysis import Analysis

_BUCKETS: Final = 64
"""Of a tile: a tenth of a view, so that little beyond its edges is reduced for nothing."""

_WIDTH_BITS: Final = 4
"""Widths of buckets have eight values an octave: views that are nearly as wide share tiles."""

_MOST_TILES: Final = 400
"""Tiles, of about 100 KB: those of some twenty views."""

_MOST_RUNS: Final = 100
"""Of which is known what does not depend on the range."""

Texts: TypeAlias = list[str]
"""Numbers as they stand in JSON."""


@dataclass(frozen=True, slots=True)
class EncodedColumns(Columns):
    """Columns whose lists are `Texts`."""

    def body(self) -> dict[str, Any]:
        """As it stands in the answer."""
        # Not `super()`: a dataclass with slots is another class than the one it was written as.
        return {key: Encoded(_text(value)) for key, value in Columns.body(self).items()}


@dataclass(frozen=True, slots=True)
class _Lane:
    """A signal's extremes in the samples of a tile."""

    samples: Int
    row: Texts
    value: Texts
    is_known: bool
    """Whether one of them was measured."""


class TimelineTiles:
    """Reduces wide ranges to buckets, for many threads; the oldest tiles are dropped.

    A bucket begins at a multiple of its width, wherever the range does, so that ranges
    have buckets in common. One thread reduces at a time: most who wait want the same.
    """

    def __init__(self, most: int = _MOST_TILES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._tiles: OrderedDict[Hashable, Any] = OrderedDict()
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

    def columns(self, analysis: Analysis, first: int, last: int, buckets: int) -> EncodedColumns:
        """A range of rows, widened to whole buckets: an eighth more than asked for, at most.

        Args:
          analysis: Of the run.
          first: First row.
          last: Last row, inclusive, of those there are.
          buckets: About how many.
        """
        size = len(analysis.run.steps)
        width = _rounded(-(-(last + 1 - first) // buckets))
        accounts = self.unranged(analysis).accounts
        begin, end = first // width, last // width + 1

        def reduce(start: int, stop: int) -> Iterator[Lists]:
            rows = start * _BUCKETS * width, min(stop * _BUCKETS * width, size) - 1
            lists = reduce_rows(analysis.run, analysis.account, *rows, width, accounts).lists
            texts = {name: _texts(values) for name, values in lists.items()}
            for at in range(0, (stop - start) * _BUCKETS, _BUCKETS):
                yield {name: values[at : at + _BUCKETS] for name, values in texts.items()}

        tiles = self._get((analysis.number, "columns", width), begin, end, reduce)
        offset = begin % _BUCKETS
        lists = {
            name: list(chain.from_iterable(tile[name] for tile in tiles))[
                offset : offset + end - begin
            ]
            for name in tiles[0]
        }
        return EncodedColumns(begin * width, min(end * width, size) - 1, width, lists)

    def signals(self, analysis: Analysis, first: int, last: int, buckets: int) -> Encoded:
        """The lanes of signals, thinned to extremes of groups of samples that views share."""
        table = analysis.run.signals
        start, stop = samples_in_view(table, first, last)
        if start >= stop:
            return Encoded("[]")
        most = most_values(buckets, first, last, len(analysis.run.steps))
        count = stop - start
        width = 1 if count <= most else _rounded(-(-count // max(1, most // 2)))
        begin, end = start // width, (stop - 1) // width + 1
        per_tile = width * _BUCKETS

        def thin(at: int, until: int) -> Iterator[Mapping[str, _Lane]]:
            for number in range(at, until):
                part = slice(number * per_tile, (number + 1) * per_tile)
                rows = table.row[part]
                lanes = {}
                for name, values in table.values.items():
                    some = values[part]
                    kept = extremes(some, width)
                    lanes[name] = _Lane(
                        part.start + kept,
                        _texts(rows[kept].tolist()),
                        _texts(numbers(some[kept])),
                        not np.isnan(some).all(),
                    )
                yield lanes

        tiles = self._get((analysis.number, "signals", width), begin, end, thin)
        lanes = []
        for name in table.values:
            parts = [tile[name] for tile in tiles]
            if any(part.is_known for part in parts):
                samples = np.concatenate([part.samples for part in parts])
                of_view = slice(*np.searchsorted(samples, (begin * width, end * width)).tolist())
                row, value = (
                    list(chain.from_iterable(texts))[of_view]
                    for texts in ([each.row for each in parts], [each.value for each in parts])
                )
                if value.count("null") < len(value):
                    lanes.append(lane_of(name, row, value))
        return Encoded(_text(lanes) if lanes else "[]")

    def _get(
        self, of: tuple[int, str, int], begin: int, end: int, make: Callable[[int, int], Any]
    ) -> list[Any]:
        """The tiles of buckets `begin` to `end`; `make` gives those that are not there."""
        places = range(begin // _BUCKETS, (end - 1) // _BUCKETS + 1)
        keys = [(of, place) for place in places]
        with self._lock:
            missing = [place for place in places if (of, place) not in self._tiles]
            for start, stop in _stretches(missing):
                for place, tile in enumerate(make(start, stop), start):
                    self._tiles[of, place] = tile
            for key in keys:
                self._tiles.move_to_end(key)
            tiles = [self._tiles[key] for key in keys]
            while len(self._tiles) > max(self._most, len(keys)):
                self._tiles.popitem(last=False)
        return tiles


def _rounded(width: int) -> int:
    """The next width below that has few binary digits.

    >>> [_rounded(width) for width in (1, 15, 17, 625, 2 ** 20 - 1)]
    [1, 15, 16, 576, 983040]
    """
    more = max(0, width.bit_length() - _WIDTH_BITS)
    return width >> more << more


def _stretches(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and end of each stretch of ascending numbers without a gap.

    >>> list(_stretches([3, 4, 5, 8]))
    [(3, 6), (8, 9)]
    """
    start = 0
    for at, place in enumerate(places):
        if at + 1 == len(places) or places[at + 1] != place + 1:
            yield places[start], place + 1
            start = at + 1


def _texts(values: Sequence[float | None]) -> Texts:
    """Each number as it stands in JSON.

    >>> _texts([1.5, None, 2.0])
    ['1.5', 'null', '2.0']
    """
    return json.dumps(values, allow_nan=False)[1:-1].split(", ") if values else []


def _text(value: Any) -> str:
    """The JSON text of a value whose lists are `Texts`, or lists of dicts of them.

    >>> _text([{"account": "gc", "seconds": ["0.5", "null"]}])
    '[{"account":"gc","seconds":[0.5,null]}]'
    """
    if isinstance(value, dict):
        return f"{{{','.join(f'{json.dumps(key)}:{_text(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(each if isinstance(each, str) else _text(each) for each in value)}]"
    return json.dumps(value)
