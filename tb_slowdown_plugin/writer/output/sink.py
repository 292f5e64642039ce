"""Where records go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Record(NamedTuple):
    """One record, and what an event file tells of it."""

    data: bytes
    """What `records.codec.encode` made."""
    tag: str
    """The tag of its summary."""
    sequence: int
    """Its number within the session, strictly increasing."""
    unix_seconds: float
    """When it was made."""


class Sink(Protocol):
    """Takes the records of one session. Any error it raises is the monitor's to handle."""

    def write(self, records: Sequence[Record]) -> None:
        """Hands records on in their order, so far that they survive the process.

        All at once: beside a busy loop of Python each write, which gives up Python's global
        lock, waits 5 ms to get it back.

        Args:
          records: At least one. Where this raises, they come again; a reader leaves out
            those that it has.
        """

    def close(self) -> None:
        """Frees what the sink holds; a later `write` opens it again."""


class MemorySink:
    """Keeps the records in a list, for tests.

    Example:
      >>> sink = MemorySink()
      >>> sink.write([Record(b"...", "slowdown/0a/0", 0, 1.0)])
      >>> sink.records
      [b'...']
    """

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.tags: list[str] = []
        self.closed = False

    def write(self, records: Sequence[Record]) -> None:
        """Keeps the records."""
        self.records += [record.data for record in records]
        self.tags += [record.tag for record in records]

    def close(self) -> None:
        """Notes that it was closed."""
        self.closed = True
