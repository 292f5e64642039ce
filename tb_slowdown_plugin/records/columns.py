"""Arrays to columns of a record; `stacked.py` reads them.

Durations travel as whole microseconds in `int32` (about 35 minutes), `int64`
beyond. Bytes are shuffled (all first bytes, then all second bytes), which
makes slowly varying numbers compress to a few bytes each. A column of one
value travels as that value.
"""

from __future__ import annotations

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


def encode_whole(name: str, values: Int, *, differences: bool = False) -> pb.Column:
    """A column of whole numbers; `differences` suits what counts up."""
    column = pb.Column(name=name, rows=len(values))
    if differences and len(values):
        # As if it had always counted like this: what counts steadily becomes one value.
        before = 2 * int(values[0]) - int(values[min(1, len(values) - 1)])
        column.before = before
        values = np.diff(values, prepend=np.int64(before))
    if len(values) and (values == values[0]).all():
        column.whole = int(values[0])
        return column
    fits = len(values) == 0 or (
        int(values.min()) > np.iinfo(np.int32).min and int(values.max()) <= np.iinfo(np.int32).max
    )
    column.type = pb.Column.INT32 if fits else pb.Column.INT64
    column.shuffled = _shuffle(values, DTYPES[column.type])
    return column


def encode_seconds(name: str, seconds: Float) -> pb.Column:
    """A column of durations, to the microsecond; NaN stays NaN."""
    with np.errstate(invalid="ignore"):
        micros = np.rint(seconds * 1e6)
        whole = np.where(np.isfinite(micros), micros, 0).astype(np.int64)
    whole[~np.isfinite(micros)] = NOT_MEASURED
    return encode_whole(name, whole)


def encode_real(name: str, values: Float) -> pb.Column:
    """A column of any numbers; NaN stays NaN."""
    column = pb.Column(name=name, rows=len(values), type=pb.Column.FLOAT64)
    if len(values) and (values == values[0]).all():
        column.real = float(values[0])
    else:
        column.shuffled = _shuffle(values, DTYPES[pb.Column.FLOAT64])
    return column


def _shuffle(values: Int | Float, dtype: np.dtype[Any]) -> bytes:
    raw = np.ascontiguousarray(values.astype(dtype)).view(np.uint8)
    shuffled: bytes = raw.reshape(len(values), dtype.itemsize).T.tobytes()
    return shuffled
