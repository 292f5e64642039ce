"""Exclusive seconds of the training thread: every second stands in one account.

Whoever measures a stretch of the training thread's time (a phase, a trace, a
GC pause, a callback, a wait for data) opens an account when it begins and
closes it when it ends. What is opened inside another account takes its time
out of that one, so the innermost wins and nothing is counted twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class Stopwatch:
    """Books the training thread's time to the innermost open account.

    Only the thread that called `claim` may open accounts; collectors ask
    `is_mine()` first, because hooks run in any thread.

    Example:
      >>> now = iter([0, 10, 15, 30, 30]).__next__
      >>> watch = Stopwatch(now)
      >>> watch.open("forward"); watch.open("tracing:again")
      >>> watch.close(); watch.close()
      >>> watch.take()
      {'forward': 25, 'tracing:again': 5}
    """

    __slots__ = ("_now", "_since", "askers", "booked", "opened", "thread")

    def __init__(self, monotonic_ns: Callable[[], int]) -> None:
        self._now = monotonic_ns
        self.opened: list[str] = []
        """The accounts that are open, innermost last; only for looking at."""
        self._since = 0
        self.thread = 0
        self.booked: dict[str, int] = {}
        """Nanoseconds since the last `take`; what is open is booked when it is closed."""
        self.askers: list[Callable[[], None]] = []
        """Called before anything is opened, closed or taken, in the training thread.

        Who learns only afterwards where time went (a collection in the middle of a
        statement, a wait inside a graph) calls `book` then. They never raise.
        """

    def claim(self) -> None:
        """Makes the calling thread the training thread."""
        self.thread = threading.get_ident()

    def is_mine(self) -> bool:
        """Whether the calling thread is the training thread."""
        return threading.get_ident() == self.thread

    @property
    def depth(self) -> int:
        """How many accounts are open."""
        return len(self.opened)

    @property
    def innermost(self) -> str | None:
        """The account that time is booked to now, None outside all of them."""
        return self.opened[-1] if self.opened else None

    @property
    def changed_ns(self) -> int:
        """The moment up to which time is booked: that of the last open, close or take."""
        return self._since

    def is_open(self, account: str) -> bool:
        """Whether `account` is open, at any depth."""
        return account in self.opened

    def open(self, account: str, since_ns: int | None = None) -> None:
        """Time goes to `account` from now on.

        Args:
          account: An account of `records/names.py`.
          since_ns: A moment in the past from which on it went there, where that
            turns out only now; what is booked already stays as it is.
        """
        for ask in self.askers:
            ask()
        now = self._now()
        start = now if since_ns is None else max(since_ns, self._since)
        if self.opened:
            self._add(self.opened[-1], start - self._since)
        self._since = start
        self.opened.append(account)

    def close(self) -> None:
        """Time goes to the account around the innermost one again."""
        for ask in self.askers:
            ask()
        now = self._now()
        self._add(self.opened.pop(), now - self._since)
        self._since = now

    def book(self, account: str, nanoseconds: int) -> int:
        """Says afterwards that time since the last change went to `account`.

        It is taken out of the innermost account, and is never more than passed
        since the last change.

        Returns:
          The nanoseconds that were booked.
        """
        booked = max(0, min(nanoseconds, self._now() - self._since))
        self._add(account, booked)
        self._since += booked
        return booked

    def take(self) -> dict[str, int]:
        """The nanoseconds of each account since the last call; open accounts stay open."""
        for ask in self.askers:
            ask()
        now = self._now()
        if self.opened:
            self._add(self.opened[-1], now - self._since)
        self._since = now
        booked = self.booked
        self.booked = {}
        return booked

    def _add(self, account: str, nanoseconds: int) -> None:
        self.booked[account] = self.booked.get(account, 0) + nanoseconds
