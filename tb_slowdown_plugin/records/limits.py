"""What a record may claim: logdirs come from strangers, and the analysis trusts what is here.

The limits are far above what a writer of ours puts into a record. A claim of too much, or a
duration that is none, refuses the record; a number that nobody can have measured is taken as
not measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.records.types import Float

MAX_CHUNK_BYTES: Final = 8 << 20
"""An honest chunk is under 100 KB unpacked, and one that fills all queues of the writer 6 MB.
Parsing may take 70 times as much memory (measured: 2-byte events), hence no more."""
MAX_ROWS: Final = 1 << 16
"""Of a column: what the writer's queues hold (`writer/steps/step_buffer.py`)."""
MAX_COLUMNS: Final = 1 << 10
"""Of one table: an account a callback, phase and function's doing, a signal a device."""
MAX_CELLS: Final = 1 << 22
"""Rows times columns of one table: a column of one value takes 10 bytes for any number of rows."""
MAX_EVENTS: Final = 1 << 16
"""Of a record: what the writer's queue of events holds."""
MAX_LISTED: Final = 1 << 10
"""Kinds, devices, versions, limits, collectors; changes or arguments of one trace."""
MAX_TEXT: Final = 4096
"""Characters of one text; longer ones are cut."""
MAX_NOTE: Final = 200
"""Characters of a note by `tbslow.summary.note`; longer ones are cut."""
MAX_NOTES: Final = 1000
"""Of a run; what comes after them is left out."""
MAX_SECONDS: Final = 1e11
"""Of a duration or a Unix time: 3,000 years."""
MAX_WORKERS: Final = 1 << 12
MAX_COUNT: Final = 1 << 53
"""A whole number above this is not exact in JSON."""
MAX_NUMBER: Final = 1e18
"""A larger sample (an exabyte, a billion GHz) was not measured."""


def text(value: str) -> str:
    """A text, cut where it is too long."""
    return value if len(value) <= MAX_TEXT else value[:MAX_TEXT] + "…"


def count(value: int) -> int:
    """A whole number from 0 on, or a step number that may be below; the nearest that is exact.

    >>> count(7), count(1 << 64) == MAX_COUNT
    (7, True)
    """
    return max(-MAX_COUNT, min(value, MAX_COUNT))


def seconds(value: float, what: str) -> float:
    """A duration or a Unix time.

    Raises:
      DecodeError: It is negative, not finite, or beyond all time.
    """
    if 0.0 <= value <= MAX_SECONDS:
        return value
    raise DecodeError(f"record has {what} of {value} seconds, which is no time")


def numbers(values: Mapping[str, float]) -> dict[str, float]:
    """Those numbers that can have been measured.

    >>> numbers({"bytes": 4.0, "seconds": float("nan")})
    {'bytes': 4.0}
    """
    return {text(name): n for name, n in values.items() if abs(n) <= MAX_NUMBER}


def samples(values: Float) -> Float:
    """(R,) samples; NaN where nobody can have measured it."""
    if values.dot(values) <= MAX_NUMBER**2:  # none is: half the time of looking at each
        return values
    return np.where(np.abs(values) <= MAX_NUMBER, values, np.nan)


def durations(name: str, values: Float, *, known: bool = False) -> Float:
    """(S,) durations as they are.

    Args:
      name: Of the column.
      values: Seconds; NaN where not measured.
      known: NaN is refused, too.

    Raises:
      DecodeError: One is negative or beyond all time.
    """
    low, high = (np.fmin.reduce(values), np.fmax.reduce(values)) if len(values) else (0.0, 0.0)
    if low < 0.0 or high > MAX_SECONDS:
        wrong = low if low < 0.0 else high
        raise DecodeError(f"record has {wrong} seconds in column {name!r}, which is no time")
    if known and np.isnan(values).any():
        raise DecodeError(f"record has a step without a value in column {name!r}")
    return values


def few(what: str, length: int, most: int) -> None:
    """Checks a length.

    Raises:
      DecodeError: It is more than `most`.
    """
    if length > most:
        raise DecodeError(f"record claims {length} {what}; at most {most} are read")
