"""Books seconds that graphs add up to an account of the training thread.

Cost: 50 us a reading between real steps, whose data fill the caches (12 us in an idle
loop). So a sum is read seldom while graphs lose nothing, 0.1% of the training thread, and
more often after a stretch that took longer than usual and while graphs lose time: 0.5%.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context

_SHARE: Final = 0.001
_SHARE_LOSING: Final = 0.005
"""Of the training thread's time that readings may take, within these limits."""
_REST_NS: Final = (20_000_000, 100_000_000)
_REST_LOSING_NS: Final = (2_000_000, 20_000_000)
"""Least and most between two readings; where steps are shorter, the seconds are told to the
steps right after the one that had them."""
_LONG_RATIO: Final = 1.5
"""A stretch that took so many times the usual is asked after a quarter of the rest."""
_LOSING: Final = 0.1
"""Graphs lose time if they lost this share of what passed since the reading before; the wait
for data is named from 15% of a step."""
_IN_PYTHON: Final = frozenset((names.CALLBACK, names.CHECKPOINT, names.SUMMARY))
"""Families of accounts that are no part of a training graph's run: the sums are not looked at
in them, else a callback would pay for a wait, and seem to show that graphs wait no more."""


class GraphAccount:
    """Asks a sum that graphs add to whenever the stopwatch is about to book.

    What is waited for inside validation says nothing of a training step: input has an account
    of its own there, else it is validation.

    Args:
      collector: Whose it is: the name under which a failure is reported.
      account: Where the seconds go.
      read_seconds: The seconds that the graphs lost since it was called last.
      executing_eagerly: Whether the calling thread can read them now.
    """

    __slots__ = (
        "_account",
        "_asked_ns",
        "_collector",
        "_context",
        "_executing_eagerly",
        "_now_ns",
        "_opened",
        "_owed_ns",
        "_read_seconds",
        "_rest_ns",
        "_unread_ns",
        "_usual_ns",
    )

    def __init__(
        self,
        collector: str,
        context: Context,
        account: str,
        read_seconds: Callable[[], float],
        executing_eagerly: Callable[[], bool],
    ) -> None:
        self._collector = collector
        self._context = context
        self._account = account
        self._read_seconds = read_seconds
        self._executing_eagerly = executing_eagerly
        self._now_ns = context.clock.monotonic_ns
        self._opened = context.stopwatch.opened
        self._owed_ns = 0
        self._rest_ns = _REST_LOSING_NS[0]
        self._asked_ns = 0
        self._unread_ns = 0
        self._usual_ns = 0.0

    @property
    def is_open(self) -> bool:
        """Whether it is being asked."""
        return self._settle in self._context.stopwatch.askers

    def open(self) -> None:
        """What graphs lose from now on is booked."""
        self.close()
        self._asked_ns = self._now_ns()
        self._context.stopwatch.add_asker(self._settle)

    def close(self) -> None:
        """Books nothing any more."""
        self._context.stopwatch.remove_asker(self._settle)

    def _settle(self) -> None:
        now_ns = self._now_ns()
        unasked_ns = now_ns - self._asked_ns
        self._asked_ns = now_ns
        opened = self._opened
        if not (opened and names.family(opened[-1]) in _IN_PYTHON):
            self._unread_ns += unasked_ns
            # Steps without accounts ask seldom: what passed in this one counts.
            self._look(min(unasked_ns, now_ns - self._context.stopwatch.changed_ns))
        wait_ns = 0 if self._owed_ns else self._rest_ns - self._unread_ns
        self._context.stopwatch.ask_again(now_ns + wait_ns, int(_LONG_RATIO * self._usual_ns))

    def _look(self, passed_ns: int) -> None:
        unread_ns = self._unread_ns
        if unread_ns >= _REST_LOSING_NS[0]:
            usual_ns = self._usual_ns
            self._usual_ns = usual_ns + (passed_ns - usual_ns) / 8
            if (
                unread_ns >= self._rest_ns
                or (passed_ns > _LONG_RATIO * usual_ns and unread_ns >= self._rest_ns // 4)
                or names.VALIDATION in self._opened
            ) and self._executing_eagerly():
                self._owed_ns = self._read(unread_ns)
                self._unread_ns = 0
        if self._owed_ns:
            self._book(passed_ns)

    def _book(self, passed_ns: int) -> None:
        account = self._account
        if names.VALIDATION in self._opened:
            if account != names.INPUT_WAIT:
                self._owed_ns = 0
                return
            account = names.account(names.INPUT_WAIT, names.OF_VALIDATION)
        owed_ns = min(self._owed_ns, passed_ns)
        self._owed_ns -= self._context.stopwatch.book(account, owed_ns)

    def _read(self, wall_ns: int) -> int:
        began_ns = self._now_ns()
        try:
            seconds = self._read_seconds()
        except Exception as error:  # noqa: BLE001 - a reset context must not reach the training loop
            self.close()
            # Only the kind of error: TensorFlow's texts hold paths of the user's.
            self._context.report_failure(
                self._collector, f"the wait in graphs can't be read: {type(error).__name__}"
            )
            return 0
        took_ns = self._now_ns() - began_ns
        lost_ns = min(wall_ns, max(0, int(seconds * 1e9)))
        if lost_ns > _LOSING * wall_ns:
            self._rest_ns = _within(_REST_LOSING_NS, took_ns / _SHARE_LOSING)
        else:
            self._rest_ns = _within(_REST_NS, took_ns / _SHARE)
        return lost_ns


def _within(limits: tuple[int, int], value: float) -> int:
    least, most = limits
    return int(min(max(value, least), most))
