"""The columns of one table, in one record or in several in a row, to arrays.

Decoding a column of 256 values takes 6 us whatever numpy has to do in it: a name's pieces in 64
records at once take little more than those of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.records import limits as bounds
from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.columns import DTYPES, NOT_MEASURED
from tb_slowdown_plugin.records.types import Float, Int

_MICROS: Final = 1e6
_CONSTANTS: Final = ("whole", "real")


class StackedColumns:
    """The columns of some tables that stand end to end.

    Args:
      what: Of what the tables are, for complaints: "step" or "signal".
      tables: The columns of each; a table without columns has no rows.
      needed: Columns that each table with columns has.

    Raises:
      DecodeError: They are no such tables, or claim too much.
    """

    def __init__(
        self, what: str, tables: Sequence[Sequence[pb.Column]], needed: tuple[str, str]
    ) -> None:
        self._pieces: dict[str, dict[int, pb.Column]] = {}
        self.rows = [self._gather(what, place, table) for place, table in enumerate(tables)]
        """Of each table."""
        self.ends = list(accumulate(self.rows))
        """Of each table, the rows of it and of those before it."""
        self.total = self.ends[-1]
        filled = sum(1 for table in tables if table)
        if any(len(self._pieces.get(name, ())) < filled for name in needed):
            first, second = needed
            raise DecodeError(f"record has {what}s without the columns '{first}' and '{second}'")
        bounds.few(f"{what}s times columns", self.total * len(self._pieces), bounds.MAX_CELLS)
        bounds.few(f"rows in column {needed[0]!r}", max(self.rows), bounds.MAX_ROWS)

    def __contains__(self, name: str) -> bool:
        return name in self._pieces

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def starts(self) -> Int:
        """(T,) the first row of each table."""
        return np.array([0, *self.ends[:-1]], np.int64)

    def repeat(self, of_tables: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
        """(rows of all,) what is said of each table, for each of its rows."""
        return np.repeat(np.asarray(of_tables), self.rows)

    def whole(self, name: str) -> Int:
        """(rows of all,) whole numbers; 0 in a table without the column."""
        return self._whole(name).astype(np.int64, copy=False)

    def seconds(self, name: str, absent: float) -> Float:
        """(rows of all,) durations in seconds; `absent` in a table without the column."""
        micros = self._whole(name)
        seconds = micros / _MICROS
        if micros.itemsize == np.dtype(np.int64).itemsize:
            seconds[micros == NOT_MEASURED] = np.nan
        pieces = self._pieces[name]
        if len(pieces) < len(self.rows) and absent != 0.0:
            seconds[~self.repeat([place in pieces for place in range(len(self.rows))])] = absent
        return seconds

    def real(self, name: str) -> Float:
        """(rows of all,) any numbers; NaN in a table without the column."""
        values = self._values(name, np.float64, np.nan)
        return bounds.samples(values.astype(np.float64, copy=False))

    def _gather(self, what: str, place: int, table: Sequence[pb.Column]) -> int:
        """Sort a table's columns in by their names; its rows."""
        bounds.few("columns", len(table), bounds.MAX_COLUMNS)
        rows = table[0].rows if table else 0
        for column in table:
            name = bounds.text(column.name)
            if column.rows != rows:
                raise DecodeError(f"record has {what} columns of different lengths")
            pieces = self._pieces.get(name)
            if pieces is None:
                pieces = self._pieces[name] = {}
            pieces[place] = column
        return rows

    def _whole(self, name: str) -> Int:
        """Whole numbers of four or of eight bytes."""
        values: Int = self._values(name, np.int64, 0)
        before = [
            (place, column.before)
            for place, column in self._pieces[name].items()
            if column.HasField("before")
        ]
        return self._summed(values, before) if before else values

    def _values(self, name: str, kind: type[np.int64 | np.float64], absent: float) -> NDArray[Any]:
        """(rows of all,) numbers of the kind, of any size."""
        constants: tuple[list[int], list[float]] = [], []
        alike: dict[tuple[int, int], tuple[list[int], list[bytes]]] = {}
        pieces = self._pieces[name]
        for place, column in pieces.items():
            raw = column.shuffled
            constant = None if raw else column.WhichOneof("values")
            if constant in _CONSTANTS:
                self._check_kind(name, kind, constant == "real")
                constants[0].append(place)
                constants[1].append(getattr(column, constant))
                continue
            shape = column.type, self.rows[place]
            group = alike.get(shape)
            if group is None:
                group = alike[shape] = [], []
            group[0].append(place)
            group[1].append(raw)
        if len(alike) == 1 and len(next(iter(alike.values()))[0]) == len(self.rows):
            ((encoding, rows), (_, raws)) = next(iter(alike.items()))
            return self._unshuffle(name, kind, encoding, rows, raws).reshape(self.total)
        if len(constants[0]) == len(self.rows):
            return self.repeat(np.array(constants[1], kind))
        values = np.full(self.total, absent, kind)
        starts = self.starts()
        for (encoding, rows), (places, raws) in alike.items():
            at = starts[places][:, None] + np.arange(rows)
            values[at] = self._unshuffle(name, kind, encoding, rows, raws)
        for place, constant_value in zip(*constants, strict=True):
            values[self.ends[place] - self.rows[place] : self.ends[place]] = constant_value
        return values

    def _unshuffle(
        self, name: str, kind: type[Any], encoding: int, rows: int, raws: list[bytes]
    ) -> NDArray[Any]:
        """(pieces, rows) the numbers in pieces that are alike."""
        dtype = DTYPES.get(encoding)
        if dtype is None:
            raise DecodeError(f"column {name!r} has the unknown type {encoding}")
        self._check_kind(name, kind, dtype.kind == "f")
        for raw in raws:
            if len(raw) != rows * dtype.itemsize:
                raise DecodeError(
                    f"column {name!r} has {len(raw)} bytes for {rows} rows "
                    f"of {dtype.itemsize} bytes"
                )
        shuffled = np.frombuffer(b"".join(raws), np.uint8)
        planes = shuffled.reshape(len(raws), dtype.itemsize, rows)
        numbers: NDArray[Any] = np.ascontiguousarray(planes.swapaxes(1, 2)).view(dtype)
        return numbers.reshape(len(raws), rows)

    def _check_kind(self, name: str, kind: type[Any], is_real: bool) -> None:
        if is_real and kind is np.int64:
            raise DecodeError(f"column {name!r} does not hold whole numbers")

    def _summed(self, differences: Int, before: list[tuple[int, int]]) -> Int:
        """Sums within each table that has a value before its first one; wraps like `int64`."""
        sums = np.cumsum(differences, dtype=np.int64)
        places, values = (list(column) for column in zip(*before, strict=True))
        offsets = np.zeros(len(self.rows), np.int64)
        sums_before = np.concatenate([[0], sums])[self.starts()]
        offsets[places] = np.array(values, np.int64) - sums_before[places]
        summed: Int = sums + self.repeat(offsets)
        if len(places) == len(self.rows):
            return summed
        has = np.zeros(len(self.rows), bool)
        has[places] = True
        chosen: Int = np.where(self.repeat(has), summed, differences)
        return chosen
