"""Pauses of Python's garbage collector, exact to the collection.

Cost: 1.5 us a collection; nothing between collections.
"""

from __future__ import annotations

import gc
import threading
from collections import deque
from typing import Any

from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.records import names
from tb_slowdown_plugin.records.types import GcPause

_OLDEST_GENERATION = 2
_WORTH_AN_EVENT_NS = 1_000_000
"""Young collections take microseconds and come by the hundred: their seconds are booked,
but only pauses from 1 ms on are kept one by one."""
_WORTH_BOOKING_NS = 100_000
"""What shorter pauses take is gathered up to here: booking it takes 10 us between real steps."""


class GarbageCollector:
    """Books each pause of the training thread and records the ones that matter.

    A collection may begin at any allocation, also while the stopwatch or the
    recorder is at work in the same thread. So the hook only takes notes; they
    are booked at the next change of account, which still is the account that
    was interrupted. Pauses in other threads cost the training thread nothing
    that could be told apart: they are recorded with `elsewhere`.
    """

    name = "gc"

    def start(self, context: Context) -> None:
        """Adds the hook to `gc.callbacks`."""
        self._context = context
        self._began_ns = 0
        self._gathered_ns = 0
        self._noted: deque[tuple[GcPause | None, int]] = deque()
        gc.callbacks.append(self._note)

    def stop(self) -> None:
        """Removes the hook from `gc.callbacks`; pauses noted but not booked are recorded."""
        gc.callbacks.remove(self._note)
        self._context.stopwatch.remove_asker(self._hand_over)
        while self._noted:
            self._emit(self._noted.popleft()[0])

    def _note(self, when: str, info: dict[str, Any]) -> None:
        now = self._context.clock.monotonic_ns()
        if when == "start":
            self._began_ns = now
            return
        if not self._began_ns:  # the collection was under way when the hook was added
            return
        nanoseconds = now - self._began_ns
        elsewhere = threading.get_ident() != self._context.stopwatch.thread
        generation = info.get("generation", _OLDEST_GENERATION)
        matters = _matters(generation, nanoseconds)
        booked_ns = 0
        if not elsewhere:
            self._gathered_ns += nanoseconds
            if matters or self._gathered_ns >= _WORTH_BOOKING_NS:
                booked_ns, self._gathered_ns = self._gathered_ns, 0
        if not (matters or booked_ns):
            return
        pause = GcPause(generation, nanoseconds / 1e9, info.get("collected", 0), elsewhere)
        self._noted.append((pause if matters else None, booked_ns))
        if len(self._noted) == 1:
            self._context.stopwatch.add_asker(self._hand_over)

    def _hand_over(self) -> None:
        self._context.stopwatch.remove_asker(self._hand_over)
        while self._noted:
            pause, nanoseconds = self._noted.popleft()
            if nanoseconds:
                self._context.stopwatch.book(names.GC, nanoseconds)
            self._emit(pause)

    def _emit(self, pause: GcPause | None) -> None:
        if pause is not None:
            self._context.emit(pause)


def _matters(generation: int, nanoseconds: int) -> bool:
    return generation >= _OLDEST_GENERATION or nanoseconds >= _WORTH_AN_EVENT_NS
