"""Where records go."""

from __future__ import annotations

from typing import Protocol


class Sink(Protocol):
    """Takes the records of one session. Any error it raises is the monitor's to handle."""

    def write(self, record: bytes, tag: str, sequence: int, unix_seconds: float) -> None:
        """Hands one record on, so far that it survives the process.

        Args:
          record: What `records.codec.encode` made.
          tag: The tag of its summary.
          sequence: Its number within the session, strictly increasing.
          unix_seconds: When it was made.
        """

    def close(self) -> None:
        """Frees what the sink holds; a later `write` opens it again."""


class MemorySink:
    """Keeps the records in a list, for tests.

    Example:
      >>> sink = MemorySink()
      >>> sink.write(b"...", "slowdown/0a/0", 0, 1.0)
      >>> sink.records
      [b'...']
    """

    def __init__(self) -> None:
        self.records: list[bytes] = []
        self.tags: list[str] = []
        self.closed = False

    def write(self, record: bytes, tag: str, sequence: int, unix_seconds: float) -> None:  # noqa: ARG002
        """Keeps the record."""
        self.records.append(record)
        self.tags.append(tag)

    def close(self) -> None:
        """Notes that it was closed."""
        self.closed = True
