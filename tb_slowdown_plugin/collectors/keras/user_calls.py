"""Calls in the user's own code that own what happens inside of them.

Each is known by the line that makes it. What it takes, and in which parts, is told at its
1st, 2nd, 4th ... call from there.

Cost: 10 us a call.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CREATION, LATER_GRAPHS, LIBRARY_GRAPHS
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_frame
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.timing.stopwatch import Owner
from tb_slowdown_plugin.records.types import Fact

_MOST_LINES: Final = 64
"""Lines with calls of which a record tells."""

PRICE: Final = LIBRARY_GRAPHS | {names.GC, names.INPUT_WAIT}
"""What a dataset that a call makes of its arguments costs, wherever else such seconds go. What is
traced of the model itself has a reason of its own."""

ANYTHING: Final = PRICE | LATER_GRAPHS | {CREATION}
"""Of a call that makes a model, whatever it makes for it is its own."""


@dataclass(slots=True)
class OpenCall:
    """A call under way."""

    owner: Owner
    subject: str
    began_ns: int
    batches: int = 0


@dataclass(slots=True)
class _LineCalls:
    told: int = 0
    """How often somebody said something of it."""
    calls: int = 0
    numbers: dict[str, float] = field(default_factory=dict)


def _account_of(call: str, at: str) -> str:
    """Of its own, by its line, where a call has one; else that of calls."""
    if call in (names.PREDICT, names.CLEAR_SESSION):
        return names.account(call, at)
    return names.account(names.CALL, f"{call} ({at})" if at else call)


class UserCalls:
    """Opens and closes the accounts of calls in the training thread."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._places = SourcePlaces.of_process()
        self._lines: dict[str, _LineCalls] = {}

    def place_of(self, frame: FrameType | None) -> tuple[str, str]:
        """The user's line of a call: "train.py:41", and with its function, "main (train.py:41)"."""
        caller = calling_frame(frame)
        if caller is None:
            return "", ""
        code, line = caller.f_code, caller.f_lineno
        return self._places.at(code.co_filename, line), self._places.in_code(code, line)

    def open(
        self, call: str, takes: Collection[str], frame: FrameType | None, account: str = ""
    ) -> OpenCall:
        """A call begins; its time goes to its line from now on.

        Args:
          call: The function: "predict".
          takes: As of an `Owner`.
          frame: Where it was called, or below.
          account: Where its time goes instead, if it has an account already.
        """
        watch = self._context.stopwatch
        at, line = self.place_of(frame)
        account = account or _account_of(call, at)
        subject = f"{watch.booked_as(account)}|{call}|{line}"
        owner = Owner(account, takes)
        watch.open(account, owner=owner)
        return OpenCall(owner, subject, self._context.clock.monotonic_ns())

    def is_open(self, call: OpenCall) -> bool:
        """Whether it still owns what happens."""
        return any(owner is call.owner for owner in self._context.stopwatch.owners)

    def close(self, call: OpenCall) -> None:
        """It has ended, and with it what was left open inside."""
        watch = self._context.stopwatch
        if self.is_open(call):
            while watch.depth >= call.owner.depth:
                watch.close()
            took_ns = self._context.clock.monotonic_ns() - call.began_ns
        else:  # it was the training: what it took before
            took_ns = sum(call.owner.parts.values())
        self._tell(call.subject, took_ns, 1, call.batches, call.owner)

    def note(self, call: str, frame: FrameType, took_ns: int, account: str, calls: int = 1) -> None:
        """A call is over that owns nothing: only its line is told.

        Args:
          call: The function: "tf.summary.image".
          frame: Of the user's code that called it.
          took_ns: The time of the call.
          account: Where its time went.
          calls: For how many such calls it stands.
        """
        line = self._places.in_code(frame.f_code, frame.f_lineno)
        self._tell(f"{account}|{call}|{line}", took_ns * calls, calls)

    def _tell(
        self,
        subject: str,
        took_ns: int,
        calls: int = 1,
        batches: int = 0,
        owner: Owner | None = None,
    ) -> None:
        line = self._lines.setdefault(subject, _LineCalls())
        line.told += 1
        line.calls += calls
        line.numbers["seconds"] = line.numbers.get("seconds", 0.0) + took_ns / 1e9
        line.numbers["batches"] = line.numbers.get("batches", 0.0) + batches
        for account, nanoseconds in owner.parts.items() if owner else ():
            if owner and account != owner.account:
                part = f"in:{names.family(account)}"
                line.numbers[part] = line.numbers.get(part, 0.0) + nanoseconds / 1e9
        if len(self._lines) <= _MOST_LINES and line.told.bit_count() == 1:
            numbers = {"calls": float(line.calls), **line.numbers}
            self._context.emit(Fact(names.CALLED, subject, numbers))
