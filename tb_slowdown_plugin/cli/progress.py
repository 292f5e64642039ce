"""A line that tells how far a long read has come, on terminals only."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Final, TextIO

_PATIENCE_SECONDS: Final = 1.0
_EVERY_SECONDS: Final = 0.2


class ProgressLine:
    """Shows itself once reading takes more than a second, and wipes itself when it is done.

    Args:
      stream: Where it is drawn; nothing is, unless it is a terminal.
      clock: Seconds.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._next = clock() + _PATIENCE_SECONDS
        self._drawn = 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()

    def update(self, done: int, total: int) -> None:
        """`done` of `total` bytes are read."""
        if not self._stream.isatty() or self._clock() < self._next:
            return
        self._next = self._clock() + _EVERY_SECONDS
        share = 100 * done // max(total, 1)
        line = f"reading: {share} % of {total / 1e6:,.0f} MB"
        self._stream.write("\r" + line.ljust(self._drawn))
        self._stream.flush()
        self._drawn = len(line)
