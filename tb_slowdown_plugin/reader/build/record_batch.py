"""What every source of records hands over, be it TensorBoard's data provider or a file.

Records in a row of one session are decoded together: four times as fast as one by one. Which of
them are known is kept in as few numbers as there are gaps.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.records.decoding import Opened
from tb_slowdown_plugin.records.metadata import PLUGIN_NAME

_MOST_RECORDS: Final = 64
"""Twice as many take 4% less (a report of 1,000,000 steps), and twice the memory."""

_MOST_BYTES: Final = 1 << 20
"""Unpacked; 64 honest records take 0.7 MB. A parsed message may take 70 times as much memory."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of ours as it lies in the logdir, still packed."""

    tensorboard_run: str
    """The run as TensorBoard names it: "run1/slowdown"."""
    tag: str
    """"slowdown/<session>/<n>"."""
    sequence: int
    """The event's step: the sequence number of the chunk."""
    payload: bytes


def session_of(tag: str) -> str | None:
    """The session in a tag, None for a tag that no writer of ours makes.

    >>> session_of("slowdown/1f3a/2")
    '1f3a'
    """
    parts = tag.split("/")
    return parts[1] if len(parts) == 3 and parts[0] == PLUGIN_NAME else None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A record that is opened, and where it was found."""

    worker: int
    session: str | None
    """Of its tag."""
    sequence: int
    """The event's step."""
    opened: Opened


class RecordBatch:
    """Opened records, each of which follows the one before."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []
        self._bytes = 0

    def may_go_on(self, worker: int, session: str | None, sequence: int) -> bool:
        """Whether a record could be the next one by where it is found; any could be the first."""
        if not self._waiting:
            return True
        last = self._waiting[-1]
        return sequence == last.sequence + 1 and session == last.session and worker == last.worker

    def takes(self, waiting: Waiting) -> bool:
        """Adds a record that may go on, unless it does not follow or there is no room."""
        if self._waiting:
            full = (
                len(self._waiting) == _MOST_RECORDS
                or self._bytes + waiting.opened.unpacked_bytes > _MOST_BYTES
            )
            if full or not waiting.opened.follows(self._waiting[-1].opened):
                return False
        self._waiting.append(waiting)
        self._bytes += waiting.opened.unpacked_bytes
        return True

    def hand_over(self) -> list[Waiting]:
        """The records; then it is empty."""
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        return waiting


class Sequences:
    """A set of whole numbers that come almost in order, kept as ranges without a gap.

    >>> known = Sequences()
    >>> [known.add(number) for number in (0, 1, 5, 4)]
    [None, None, None, None]
    >>> 1 in known, 3 in known, 5 in known, len(known.ranges)
    (True, False, True, 2)
    """

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []
        """(first, last) of each, ascending."""

    def __len__(self) -> int:
        return sum(last + 1 - first for first, last in self.ranges)

    def __contains__(self, number: int) -> bool:
        if not self.ranges or number > self.ranges[-1][1]:
            return False
        at = bisect_right(self.ranges, (number, number)) - 1
        near = self.ranges[max(at, 0) : at + 2]
        return any(first <= number <= last for first, last in near)

    def add(self, number: int) -> None:
        """Add a number; one that is known already changes nothing."""
        if number in self:
            return
        first = last = number
        at = bisect_right(self.ranges, (number, number))
        end = at
        if end < len(self.ranges) and self.ranges[end][0] == number + 1:
            last = self.ranges[end][1]
            end += 1
        if at and self.ranges[at - 1][1] == number - 1:
            at -= 1
            first = self.ranges[at][0]
        self.ranges[at:end] = [(first, last)]
