"""Records that are made and not written yet, and the sinks that they go to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, NamedTuple, Protocol

from tb_slowdown_plugin.errors import reason_of

MAX_HELD_RECORDS: Final = 64
"""Kept while the sink fails, oldest dropped first: about ten minutes, under 1 MB; of a loop of
10 us some seconds, 5 MB."""


class Outbox:
    """Hands records on to a sink in their order, and keeps them while that fails; never raises.

    Args:
      sink: Where records go.
      report_failure: Is told the part that failed, and why.

    Example:
      >>> from tb_slowdown_plugin.writer.output.outbox import MemorySink, OutboxRecord
      >>> sink = MemorySink()
      >>> outbox = Outbox(sink, print)
      >>> outbox.put(OutboxRecord(b"...", "slowdown/0a/0", 0, 1.0))
      >>> outbox.write(), sink.records
      (True, [b'...'])
    """

    def __init__(self, sink: Sink, report_failure: Callable[[str, str], None]) -> None:
        self._sink = sink
        self._report_failure = report_failure
        self._held: deque[OutboxRecord] = deque(maxlen=MAX_HELD_RECORDS)
        self._at_once = MAX_HELD_RECORDS

    @property
    def is_full(self) -> bool:
        """Whether the next record drops the oldest."""
        return len(self._held) == MAX_HELD_RECORDS

    def put(self, record: OutboxRecord) -> None:
        """Takes one record."""
        self._held.append(record)

    def write(self) -> bool:
        """Writes all that is held; whether that went well."""
        try:
            while self._held:
                records = tuple(islice(self._held, self._at_once))
                self._sink.write(records)
                for _ in records:
                    self._held.popleft()
        except Exception as error:  # noqa: BLE001, the training must not see it
            self.close()
            self._report_failure("writing", reason_of(error))
            self._at_once = 1  # a disk that is nearly full takes some of them
            return False
        self._at_once = MAX_HELD_RECORDS
        return True

    def close(self) -> None:
        """Closes the sink; a later `write` opens it again."""
        try:
            self._sink.close()
        except Exception as error:  # noqa: BLE001, the training must not see it
            self._report_failure("writing", reason_of(error))


class OutboxRecord(NamedTuple):
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

    def write(self, records: Sequence[OutboxRecord]) -> None:
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
      >>> sink.write([OutboxRecord(b"...", "slowdown/0a/0", 0, 1.0)])
      >>> sink.records
      [b'...']
    """

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.tags: list[str] = []
        self.closed = False

    def write(self, records: Sequence[OutboxRecord]) -> None:
        """Keeps the records."""
        self.records += [record.data for record in records]
        self.tags += [record.tag for record in records]

    def close(self) -> None:
        """Notes that it was closed."""
        self.closed = True
