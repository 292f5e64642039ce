"""The events of one line of a trace, decoded as columns: three million in about a second."""

from __future__ import annotations

from array import array
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.profiler.xplane.wire import Buffer, MalformedError, varint

Ints = NDArray[np.int64]

EVENTS_TAG: Final = 0x22
"""Field 4, length-delimited: the events of an XLine, and the stats of an XEvent."""
_AT_ONCE: Final = 1 << 18
"""Events decoded together: a dozen temporary columns of 2 MB each."""
_MOST_BYTES: Final = 8
"""Of a number: 2**56 picoseconds are 20 hours, and no trace is as long as that."""


class Events(NamedTuple):
    """Columns, one row an event. `E` is their number."""

    metadata: Ints
    """(E,) id of what it is."""
    offset_ps: Ints
    """(E,) from the line's own beginning."""
    duration_ps: Ints
    """(E,)"""
    stats: Ints
    """(E,) where in the buffer its stats begin, 0 where it has none."""
    ends: Ints
    """(E,) where in the buffer it ends."""


def spans(data: Buffer, at: int, end: int, most: int) -> tuple[Ints, Ints, int]:
    """Where the events begin and end that stand one after the other from `at` on.

    Args:
      data: The whole file.
      at: Of the tag of the first event.
      end: Of the line.
      most: Events to read at most.

    Returns:
      Beginnings (E,), ends (E,), and where the next thing stands.
    """
    begins, ends = array("q"), array("q")
    while at < end and data[at] == EVENTS_TAG and len(begins) < most:
        try:
            size = data[at + 1]
            if size < 0x80:
                begin = at + 2
            else:
                size, begin = varint(data, at + 1, end)
        except (IndexError, MalformedError):
            return _numbers(begins), _numbers(ends), end
        at = begin + size
        if at > end:  # cut short
            return _numbers(begins), _numbers(ends), end
        begins.append(begin)
        ends.append(at)
    return _numbers(begins), _numbers(ends), at


def decode(words: NDArray[np.uint64], begins: Ints, ends: Ints) -> tuple[Events, int]:
    """The events at these places; those that are no events are left out and counted.

    Field order is that of every protobuf serializer: ascending. The number of
    occurrences (of aggregated events, which have no time) is not read.

    Args:
      words: As `words_of` makes them.
      begins: (E,) where events begin.
      ends: (E,) where they end.
    """
    parts = [
        _decode(words, begins[first : first + _AT_ONCE], ends[first : first + _AT_ONCE])
        for first in range(0, len(begins), _AT_ONCE)
    ]
    if not parts:
        none = np.empty(0, np.int64)
        return Events(none, none, none, none, none), 0
    columns = (np.concatenate(column) for column in zip(*(part for part, _ in parts), strict=True))
    return Events(*columns), sum(odd for _, odd in parts)


def words_of(data: Buffer) -> NDArray[np.uint64]:
    """The eight bytes from each place on, as numbers: a view that copies nothing."""
    words: NDArray[np.uint64] = np.ndarray(
        shape=(max(0, len(data) - 7),),
        dtype="<u8",
        buffer=data,
        strides=(1,) if len(data) else (8,),
    )
    return words


def _decode(words: NDArray[np.uint64], begins: Ints, ends: Ints) -> tuple[Events, int]:
    at = begins.copy()
    good = np.ones(len(at), bool)
    columns = []
    for tag in (0x08, 0x10, 0x18):
        value = np.zeros(len(at), np.int64)
        rows = np.flatnonzero(at < ends)
        rows = rows[_byte(words, at[rows]) == tag]
        number, size = _varints(_word(words, at[rows] + 1))
        value[rows] = number
        at[rows] += 1 + size
        good[rows[size > _MOST_BYTES]] = False
        columns.append(value)
    rest = np.flatnonzero(at < ends)
    tags = _byte(words, at[rest])
    good[rest[(tags != EVENTS_TAG) & (tags != 0x28)]] = False
    good &= at <= ends
    stats = np.zeros(len(at), np.int64)
    has = rest[tags == EVENTS_TAG]
    stats[has] = at[has]
    if good.all():
        return Events(columns[0], columns[1], columns[2], stats, ends), 0
    return (
        Events(*(column[good] for column in (*columns, stats, ends))),
        int(len(good) - good.sum()),
    )


def _word(words: NDArray[np.uint64], at: Ints) -> NDArray[np.uint64]:
    last = len(words) - 1
    inside = np.minimum(at, last)
    beyond = np.minimum(at - inside, 7).astype(np.uint64)
    found: NDArray[np.uint64] = words[inside] >> (beyond * np.uint64(8))
    return found


def _byte(words: NDArray[np.uint64], at: Ints) -> NDArray[np.uint64]:
    found: NDArray[np.uint64] = _word(words, at) & np.uint64(0xFF)
    return found


def _varints(word: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    """The number that each word begins with, and how many bytes it takes; 9: too many."""
    stops = ~word & np.uint64(0x8080808080808080)
    lowest = stops & (~stops + np.uint64(1))
    below = lowest - np.uint64(1)  # the bits of the number's bytes; all where there is no stop
    kept = word & (below | lowest) & np.uint64(0x7F7F7F7F7F7F7F7F)
    number = np.zeros_like(word)
    for byte in range(_MOST_BYTES):
        number |= (kept >> np.uint64(byte)) & np.uint64(0x7F << (7 * byte))
    size = np.full(len(word), _MOST_BYTES + 1, np.int64)
    ended = lowest != 0
    size[ended] = np.log2(lowest[ended].astype(np.float64)).astype(np.int64) // 8 + 1
    return number.astype(np.int64), size


def _numbers(found: array[int]) -> Ints:
    return np.frombuffer(found, np.int64) if len(found) else np.empty(0, np.int64)
