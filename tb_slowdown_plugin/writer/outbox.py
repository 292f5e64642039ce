"""Records that are made and not written yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from tb_slowdown_plugin.writer.privacy import reason_of
from tb_slowdown_plugin.writer.sink import Sink

MAX_HELD_RECORDS: Final = 64
"""Kept while the sink fails, oldest dropped first: about ten minutes, under 1 MB."""


class Outbox:
    """Hands records on to a sink in their order, and keeps them while that fails; never raises.

    Args:
      sink: Where records go.
      report_failure: Is told the part that failed, and why.

    Example:
      >>> from tb_slowdown_plugin.writer.sink import MemorySink
      >>> sink = MemorySink()
      >>> outbox = Outbox(sink, print)
      >>> outbox.put(b"...", "slowdown/0a/0", 0, 1.0)
      >>> outbox.write(), sink.records
      (True, [b'...'])
    """

    def __init__(self, sink: Sink, report_failure: Callable[[str, str], None]) -> None:
        self._sink = sink
        self._report_failure = report_failure
        self._held: deque[_Record] = deque(maxlen=MAX_HELD_RECORDS)

    def put(self, record: bytes, tag: str, sequence: int, unix_seconds: float) -> None:
        """Takes one record, as `Sink.write` does."""
        self._held.append(_Record(record, tag, sequence, unix_seconds))

    def write(self) -> bool:
        """Writes what is held; whether that went well."""
        try:
            while self._held:
                self._sink.write(*self._held[0])
                self._held.popleft()
        except Exception as error:  # noqa: BLE001, the training must not see it
            self.close()
            self._report_failure("writing", reason_of(error))
            return False
        return True

    def close(self) -> None:
        """Closes the sink; a later `write` opens it again."""
        try:
            self._sink.close()
        except Exception as error:  # noqa: BLE001, the training must not see it
            self._report_failure("writing", reason_of(error))


class _Record(NamedTuple):
    record: bytes
    tag: str
    sequence: int
    unix_seconds: float
