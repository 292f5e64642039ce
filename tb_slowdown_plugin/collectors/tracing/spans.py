"""Stretches of work that nest: each gets only the seconds that no inner one has.

In the training thread a span also opens an account of the stopwatch, so that
the seconds of the step and the seconds of the event agree. Other threads have
no accounts; there only the spans themselves are kept apart.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from tb_slowdown_plugin.catalog.names import GC
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of work under way in one thread."""

    began_ns: int
    inner_ns: int
    """What closed spans of this thread had when it began."""
    pause_ns: int
    """What collections of the training thread had when it began."""
    mine: bool
    """Whether it is in the training thread."""
    accounts: int
    """Depth of the stopwatch with this span's account, 0 if it opened none."""


class _Closed(threading.local):
    exclusive_ns = 0


class Spans:
    """Opens and closes spans, in any thread."""

    def __init__(self, clock: Clock, stopwatch: Stopwatch) -> None:
        self._now = clock.monotonic_ns
        self._stopwatch = stopwatch
        self._closed = _Closed()

    def open(self, account: str | None, since_ns: int | None = None) -> Span:
        """Begins a span.

        Args:
          account: Where the training thread's time goes; None leaves it where it is.
          since_ns: When it really began, if that was earlier.
        """
        watch = self._stopwatch
        mine = watch.is_mine()
        began = self._now() if since_ns is None else since_ns
        accounts = 0
        if mine and account is not None:
            watch.open(account, since_ns)
            accounts = watch.depth
        return Span(began, self._closed.exclusive_ns, self._pause_ns(mine), mine, accounts)

    def so_far_ns(self, span: Span) -> int:
        """Nanoseconds of an open span, without inner spans that are closed.

        In the training thread also without garbage collection.
        """
        inner = self._closed.exclusive_ns - span.inner_ns
        pauses = max(0, self._pause_ns(span.mine) - span.pause_ns)
        return max(0, self._now() - span.began_ns - inner - pauses)

    def close(self, span: Span) -> int:
        """Ends a span, and what was left open in it; gives its own nanoseconds."""
        own = self.so_far_ns(span)
        self._closed.exclusive_ns += own
        while span.accounts and self._stopwatch.depth >= span.accounts:
            self._stopwatch.close()
        return own

    def _pause_ns(self, mine: bool) -> int:
        watch = self._stopwatch
        if not mine:
            return 0
        return watch.owners[-1].parts.get(GC, 0) if watch.owners else watch.booked.get(GC, 0)
