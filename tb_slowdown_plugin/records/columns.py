"""Arrays to columns of a record; `stacked.py` reads them.

Durations travel as whole microseconds in `int32` (about 35 minutes), `int64`
beyond. Bytes are shuffled (all first bytes, then all second bytes), which
makes slowly varying numbers compress to a few bytes each. A column of one
value travels as that value. The columns of a table are encoded together: beside a
training each of numpy's calls takes several microseconds, for one column or for forty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

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
