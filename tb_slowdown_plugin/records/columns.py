"""Arrays to columns of a record, and the columns of one record or of several back to arrays.

Durations travel as whole microseconds in `int32` (about 35 minutes), `int64`
beyond. Bytes are shuffled (all first bytes, then all second bytes), which
makes slowly varying numbers compress to a few bytes each. A column of one
value travels as that value. The columns of a table are encoded together: beside a
training each of numpy's calls takes several microseconds, for one column or for forty.

Records in a row are decoded together: a column of 256 values takes 6 us whatever numpy has to do
in it, so a name's pieces in 64 records at once take little more than those of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.records import limits
from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.types import Float, Int

DTYPES: Final[dict[int, np.dtype[Any]]] = {
    pb.Column.INT32: np.dtype("<i4"),
    pb.Column.INT64: np.dtype("<i8"),
    pb.Column.FLOAT64: np.dtype("<f8"),
}

ACCOUNT: Final = "account/"

CLOCKS: Final = ("inside", "process_cpu", "thread_cpu")
"""Columns of durations besides the period."""

NOT_MEASURED: Final = np.iinfo(np.int64).min
"""Microseconds of NaN: a step for which an account was not measured."""

_INT32: Final = np.iinfo(np.int32)

_MICROS: Final = 1e6

_CONSTANTS: Final = ("whole", "real")


def encode_whole(columns: Mapping[str, Int]) -> list[pb.Column]:
    """Columns of whole numbers.

    Args:
      columns: Name -> (S,) numbers, S the same for all and not 0.
    """
    return _encode_whole(columns, np.array(list(columns.values()), np.int64))


def encode_count(name: str, values: Int) -> pb.Column:
    """A column (S,) of what counts up, as differences; S is not 0."""
    # As if it had always counted like this: what counts steadily becomes one value.
    before = 2 * int(values[0]) - int(values[min(1, len(values) - 1)])
    (column,) = encode_whole({name: values - np.concatenate(([before], values[:-1]))})
    column.before = before
    return column


def encode_seconds(columns: Mapping[str, Float]) -> list[pb.Column]:
    """Columns of durations, to the microsecond; NaN stays NaN. As `encode_whole`."""
    micros = np.rint(np.array(list(columns.values())) * 1e6)
    measured = np.isfinite(micros)
    if measured.all():
        return _encode_whole(columns, micros.astype(np.int64))
    whole = np.where(measured, micros, 0).astype(np.int64)
    whole[~measured] = NOT_MEASURED
    return _encode_whole(columns, whole)


def encode_real(columns: Mapping[str, Float]) -> list[pb.Column]:
    """Columns of any numbers; NaN stays NaN. As `encode_whole`."""
    table = np.array(list(columns.values()), np.float64)
    constant = (table == table[:, :1]).all(axis=1).tolist()
    encoded = []
    for name, first, is_constant, shuffled in zip(
        columns,
        table[:, 0].tolist(),
        constant,
        _shuffle(table, DTYPES[pb.Column.FLOAT64]),
        strict=True,
    ):
        column = pb.Column(name=name, rows=table.shape[1], type=pb.Column.FLOAT64)
        if is_constant:
            column.real = first
        else:
            column.shuffled = shuffled
        encoded.append(column)
    return encoded


def _encode_whole(names: Iterable[str], table: Int) -> list[pb.Column]:
    """The rows (C, S) of a table as columns of these names."""
    size = table.shape[1]
    lowest, highest = table.min(axis=1), table.max(axis=1)
    fits = (lowest > _INT32.min) & (highest <= _INT32.max)
    shuffled: dict[int, bytes] = {}
    for kind, chosen in ((pb.Column.INT32, fits), (pb.Column.INT64, ~fits)):
        places = np.flatnonzero(chosen & (lowest != highest))
        if len(places):
            shuffled |= zip(places.tolist(), _shuffle(table[places], DTYPES[kind]), strict=True)
    encoded = []
    for place, (name, value, is_short) in enumerate(
        zip(names, lowest.tolist(), fits.tolist(), strict=True)
    ):
        column = pb.Column(name=name, rows=size)
        if place in shuffled:
            column.type = pb.Column.INT32 if is_short else pb.Column.INT64
            column.shuffled = shuffled[place]
        else:
            column.whole = value
        encoded.append(column)
    return encoded


def _shuffle(table: Int | Float, dtype: np.dtype[Any]) -> Iterator[bytes]:
    """The bytes of each row (C, S), all first bytes before all second bytes."""
    columns, size = table.shape
    raw = np.ascontiguousarray(table.astype(dtype)).view(np.uint8)
    shuffled = raw.reshape(columns, size, dtype.itemsize).swapaxes(1, 2).tobytes()
    row_bytes = size * dtype.itemsize
    return (shuffled[start : start + row_bytes] for start in range(0, len(shuffled), row_bytes))


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
        self._names: list[str] = []
        """Of the table that was sorted in last, and their pieces in `_in_order`."""
        self._in_order: list[dict[int, pb.Column]] = []
        self.rows = [self._gather(what, place, table) for place, table in enumerate(tables)]
        """Of each table."""
        self.ends = list(accumulate(self.rows))
        """Of each table, the rows of it and of those before it."""
        self.total = self.ends[-1]
        filled = sum(1 for table in tables if table)
        if any(len(self._pieces.get(name, ())) < filled for name in needed):
            first, second = needed
            raise DecodeError(f"record has {what}s without the columns '{first}' and '{second}'")
        limits.few(f"{what}s times columns", self.total * len(self._pieces), limits.MAX_CELLS)
        limits.few(f"rows in column {needed[0]!r}", max(self.rows), limits.MAX_ROWS)
        lengths = {*self.rows}
        self._places = {of: self._find_places(of) for of in lengths} if len(lengths) > 1 else {}
        """Length -> the tables of that length, and (tables, length) where their rows stand; empty
        where all are as long."""

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
        return limits.samples(values.astype(np.float64, copy=False))

    def _find_places(self, length: int) -> tuple[list[int], Int]:
        places = [place for place, rows in enumerate(self.rows) if rows == length]
        firsts = np.array([self.ends[place] - length for place in places], np.int64)
        return places, firsts[:, None] + np.arange(length)

    def _gather(self, what: str, place: int, table: Sequence[pb.Column]) -> int:
        """Sort a table's columns in by their names; its rows."""
        limits.few("columns", len(table), limits.MAX_COLUMNS)
        names = [column.name for column in table]
        lengths = [column.rows for column in table]
        rows = lengths[0] if lengths else 0
        if lengths.count(rows) < len(lengths):
            raise DecodeError(f"record has {what} columns of different lengths")
        if names != self._names:  # mostly they are those of the record before
            self._names = names
            self._in_order = [self._pieces.setdefault(limits.text(name), {}) for name in names]
        for pieces, column in zip(self._in_order, table, strict=True):
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
        pieces = self._pieces[name]
        raws = [column.shuffled for column in pieces.values()]
        if len(raws) == len(self.rows) and all(raws):
            encodings = {column.type for column in pieces.values()}
            if len(encodings) == 1:
                return self._unshuffle_all(name, kind, encodings.pop(), raws)
        constants: tuple[list[int], list[float]] = [], []
        alike: dict[tuple[int, int], tuple[list[int], list[bytes]]] = {}
        for raw, (place, column) in zip(raws, pieces.items(), strict=True):
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
        if len(constants[0]) == len(self.rows):
            return self.repeat(np.array(constants[1], kind))
        values = np.full(self.total, absent, kind)
        starts = self.starts()
        for (encoding, rows), (places, some) in alike.items():
            at = starts[places][:, None] + np.arange(rows)
            values[at] = self._unshuffle(name, kind, encoding, rows, some)
        for place, constant_value in zip(*constants, strict=True):
            values[self.ends[place] - self.rows[place] : self.ends[place]] = constant_value
        return values

    def _unshuffle_all(
        self, name: str, kind: type[Any], encoding: int, raws: list[bytes]
    ) -> NDArray[Any]:
        """(rows of all,) numbers of which each table has a piece in the same encoding."""
        if not self._places:
            return self._unshuffle(name, kind, encoding, self.rows[0], raws).reshape(self.total)
        values = np.empty(self.total, kind)
        for rows, (places, at) in self._places.items():
            some = [raws[place] for place in places]
            values[at] = self._unshuffle(name, kind, encoding, rows, some)
        return values

    def _unshuffle(
        self, name: str, kind: type[Any], encoding: int, rows: int, raws: list[bytes]
    ) -> NDArray[Any]:
        """(pieces, rows) the numbers in pieces that are alike."""
        dtype = DTYPES.get(encoding)
        if dtype is None:
            raise DecodeError(f"column {name!r} has the unknown type {encoding}")
        self._check_kind(name, kind, dtype.kind == "f")
        wrong = {*map(len, raws)} - {rows * dtype.itemsize}
        if wrong:
            raise DecodeError(
                f"column {name!r} has {min(wrong)} bytes for {rows} rows of {dtype.itemsize} bytes"
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
