"""Exclusive seconds of the training thread: every second stands in one account.

Whoever measures a stretch of the training thread's time (a phase, a trace, a
GC pause, a callback, a wait for data) opens an account when it begins and
closes it when it ends. What is opened inside another account takes its time
out of that one, so the innermost wins and nothing is counted twice. An account
that is opened with an owner (a call of the user's, a callback) gets what happens
inside of it as well, as far as the owner takes it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from tb_slowdown_plugin.catalog.names import COMPUTING, INPUT_WAIT, family

T = TypeVar("T")

NEVER: Final = 1 << 62
"""A moment that never comes, and a stretch that nothing is longer than."""
_WORTH_BOOKING_NS: Final = 100_000
"""What `each` finds is gathered up to here: a step in which something is booked costs more."""


@dataclass(slots=True)
class Owner:
    """What an account gets of the time in accounts that are opened inside of it."""

    account: str
    takes: Collection[str]
    """Accounts and families whose time is its own; what it does not take stays theirs."""
    parts: dict[str, int] = field(default_factory=dict)
    """Nanoseconds of all that was booked inside, by the account that they would stand in else."""
    depth: int = 0
    """Its account's place among those that are open, from 1 on."""
    gathered_ns: int = 0
    """Measured by `each` and not booked yet."""


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

    __slots__ = (
        "_now",
        "argument_size",
        "ask_ns",
        "askers",
        "booked",
        "calls",
        "changed_ns",
        "cpu_observer",
        "long_ns",
        "opened",
        "owners",
        "ran",
        "sees_traces",
        "thread",
        "waited_ns",
    )

    def __init__(self, monotonic_ns: Callable[[], int]) -> None:
        self._now = monotonic_ns
        self.opened: list[str] = []
        """The accounts that are open, innermost last; only for looking at."""
        self.owners: list[Owner] = []
        """Those of them that own what happens inside, innermost last; only for looking at."""
        self.changed_ns = 0
        """The moment up to which time is booked: that of the last open, close or take, or
        the end of a step in which there was nothing to take."""
        self.thread = 0
        self.booked: dict[str, int] = {}
        """Nanoseconds since the last `take`; what is open is booked when it is closed."""
        self.waited_ns = 0
        """Nanoseconds that `wait` has booked since the last `take`: an int costs a third as much as
        a table."""
        self.sees_traces = False
        """Whether an account is open wherever TensorFlow traces a function in this thread."""
        self.ran = 0
        """Functions that the step under way has run, a bit for each (`tracing/step_functions`)."""
        self.calls = 0
        """How often it has called one of them."""
        self.cpu_observer: Callable[[], None] | None = None
        """Called in the training thread, between two steps, when the clocks of CPU time were read:
        at most every 50 ms. It never raises."""
        self.argument_size = 0
        """Numbers in the largest argument of each of these calls, together."""
        self.askers: list[Callable[[], None]] = []
        """Called before anything is opened, closed or taken, in the training thread, and by
        `wait` when they are due.

        Who learns only afterwards where time went (a collection in the middle of a
        statement, a wait inside a graph) calls `book` then. They never raise.
        """
        self.ask_ns = NEVER
        self.long_ns = NEVER
        """Askers are due after the first of these moments, and after a stretch that took longer
        than the second. Else a step in which nothing was opened or booked needs no `take`:
        calling somebody takes 8 us between real steps, out of a cold cache, and a comparison
        nothing."""

    def claim(self) -> None:
        """Makes the calling thread the training thread."""
        self.thread = threading.get_ident()

    def claim_free(self) -> bool:
        """Makes it the training thread for now, where none is yet; whether there was none."""
        is_free = self.thread == 0
        if is_free:
            self.claim()
        return is_free

    def release(self) -> None:
        """No thread is the training thread; what was booked is dropped."""
        self.take()
        self.thread = 0

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
    def booked_ns(self) -> int:
        """All that was booked since the last `take`."""
        return self.waited_ns + sum(self.booked.values())

    def is_open(self, account: str) -> bool:
        """Whether `account` is open, at any depth."""
        return account in self.opened

    def add_asker(self, ask: Callable[[], None]) -> None:
        """Has it called until it is removed: first at the end of this step."""
        self.askers.append(ask)
        self.ask_ns = 0

    def remove_asker(self, ask: Callable[[], None]) -> None:
        """It is called no more; nothing happens where it was not."""
        if ask in self.askers:
            self.askers.remove(ask)
            if not self.askers:
                self.ask_ns = self.long_ns = NEVER

    def ask_again(self, moment_ns: int, longer_than_ns: int) -> None:
        """What an asker says when it was called: by when, and after which step, it has to be."""
        self.ask_ns = min(self.ask_ns, moment_ns)
        self.long_ns = min(self.long_ns, longer_than_ns)

    def booked_as(self, account: str) -> str:
        """The account that gets what is booked to `account` now, by those who own what happens.

        Example:
          >>> watch = Stopwatch(iter([0, 5, 9]).__next__)
          >>> watch.open("callback:Plotter", owner=Owner("callback:Plotter", {"tracing"}))
          >>> watch.booked_as("tracing:again"), watch.booked_as("gc")
          ('callback:Plotter', 'gc')
        """
        for owner in reversed(self.owners):
            if account in owner.takes or family(account) in owner.takes:
                account = owner.account
        return account

    def open(self, account: str, since_ns: int | None = None, owner: Owner | None = None) -> None:
        """Time goes to `account` from now on.

        Args:
          account: An account of `catalog/names.py`, or COMPUTING for what has none.
          since_ns: A moment in the past from which on it went there, where that
            turns out only now; what is booked already stays as it is.
          owner: Of this account; None where it takes nothing of what is opened inside.
        """
        if self.askers:
            self._ask()
        now = self._now()
        start = now if since_ns is None else max(since_ns, self.changed_ns)
        if self.opened:
            self._add(self.opened[-1], start - self.changed_ns)
        self.changed_ns = start
        self.opened.append(account)
        if self.owners or owner is not None:
            self._own(owner)

    def disown(self) -> None:
        """Ends all accounts with owners: what goes on in them was no call but the training."""
        while self.owners:
            self.close()

    def close(self) -> None:
        """Time goes to the account around the innermost one again."""
        if self.askers:
            self._ask()
        closed = self.opened.pop()  # first: an interrupt after the clock leaves nothing open
        now = self._now()
        self._add(closed, now - self.changed_ns)
        self.changed_ns = now
        if self.owners and self.owners[-1].depth > len(self.opened):
            self.owners.pop()

    def wait(self, fetch: Callable[..., T], *args: object) -> T:
        """Calls `fetch(*args)`, whose time goes to `input_wait`. The training thread only.

        As `open` and `close`, in one: between real steps each call more takes 2 us.
        """
        opened = self.opened
        now = self._now()
        if opened or now >= self.ask_ns or now - self.changed_ns > self.long_ns:
            self.open(INPUT_WAIT)
            try:
                return fetch(*args)
            finally:
                self.close()
        try:
            self.changed_ns = now
            opened.append(INPUT_WAIT)
            return fetch(*args)
        finally:
            # An interrupt may come before something was opened, too.
            if opened:
                opened.pop()
                now = self._now()
                if now >= self.ask_ns or now - self.changed_ns > self.long_ns:
                    self._ask()
                    now = self._now()
                self.waited_ns += now - self.changed_ns
                self.changed_ns = now

    def each(self, items: Iterable[T], owners: MutableMapping[int, Owner]) -> Iterator[T]:
        """Goes through items: the time until the next one is asked for goes to an item's owner.

        As `open` and `close` around each, in one, for what costs most steps next to nothing: calls
        between real steps took 90 us for each item. In other threads nothing is booked.

        Args:
          items: What the caller goes through.
          owners: By `id` of an item; what has none gets no time. An owner that something was opened
            in is replaced by a new one.
        """
        opened, thread = self.opened, threading.get_ident()
        for item in items:
            owner = owners.get(id(item))
            if owner is None or thread != self.thread:
                yield item
                continue
            now = self._now()
            if opened or now >= self.ask_ns or now - self.changed_ns > self.long_ns:
                self.open(owner.account, owner=owner)
            else:
                self.changed_ns = now
                opened.append(owner.account)
                owner.depth = 1
                self.owners.append(owner)
            depth = len(opened)
            yield item
            now = self._now()
            if (
                depth > 1
                or len(opened) != 1
                or owner.parts
                or now >= self.ask_ns
                or now - self.changed_ns > self.long_ns
            ):
                while len(opened) >= depth:
                    self.close()
                owners[id(item)] = Owner(owner.account, owner.takes, gathered_ns=owner.gathered_ns)
                continue
            opened.pop()
            self.owners.pop()
            gathered_ns = owner.gathered_ns + now - self.changed_ns
            self.changed_ns = now
            if gathered_ns >= _WORTH_BOOKING_NS:
                self._add(owner.account, gathered_ns)
                gathered_ns = 0
            owner.gathered_ns = gathered_ns

    def book(self, account: str, nanoseconds: int) -> int:
        """Says afterwards that time since the last change went to `account`.

        It is taken out of the innermost account, and is never more than passed
        since the last change.

        Returns:
          The nanoseconds that were booked.
        """
        booked = max(0, min(nanoseconds, self._now() - self.changed_ns))
        self._add(account, booked)
        self.changed_ns += booked
        return booked

    def take(self) -> dict[str, int]:
        """The nanoseconds of each account since the last call; open accounts stay open."""
        if self.askers:
            self._ask()
        now = self._now()
        if self.opened:
            self._add(self.opened[-1], now - self.changed_ns)
        self.changed_ns = now
        if self.waited_ns:
            self._add(INPUT_WAIT, self.waited_ns)
            self.waited_ns = 0
        booked = self.booked
        self.booked = {}
        return booked

    def _ask(self) -> None:
        self.ask_ns = self.long_ns = NEVER
        for ask in tuple(self.askers):  # one may leave
            ask()

    def _own(self, owner: Owner | None) -> None:
        while self.owners and self.owners[-1].depth >= len(self.opened):  # an interrupt left it
            self.owners.pop()
        if owner is not None:
            owner.depth = len(self.opened)
            self.owners.append(owner)

    def _add(self, account: str, nanoseconds: int) -> None:
        for owner in reversed(self.owners):
            owner.parts[account] = owner.parts.get(account, 0) + nanoseconds
            if account in owner.takes or family(account) in owner.takes:
                account = owner.account
        if account == COMPUTING:
            return
        self.booked[account] = self.booked.get(account, 0) + nanoseconds
