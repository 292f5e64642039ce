"""Pauses of Python's garbage collector, exact to the collection.

Cost: 1.5 us a collection; nothing between collections.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections import deque
from types import FrameType
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.records.types import Fact, GcPause

_OLDEST_GENERATION = 2
_WORTH_AN_EVENT_NS = 1_000_000
"""Young collections take microseconds and come by the hundred: their seconds are booked,
but only pauses from 1 ms on are kept one by one."""
_WORTH_BOOKING_NS = 100_000
"""What shorter pauses take is gathered up to here: booking it takes 10 us between real steps."""


CLEAR_SESSION: Final = "clear_session"
"""Keras's function that collects, too."""
_MOST_CALLERS: Final = 16
_MAX_FRAMES: Final = 4


class GarbageCollector:
    """Books each pause of the training thread and records the ones that matter.

    A collection may begin at any allocation, also while the stopwatch or the
    recorder is at work in the same thread. So the hook only takes notes; they
    are booked at the next change of account, which still is the account that
    was interrupted. Pauses in other threads cost the training thread nothing
    that could be told apart: they are recorded with `elsewhere`. A full collection
    that the program asked for is recorded with the line that did, at the 1st, 2nd,
    4th ... call from there.
    """

    name = "gc"

    def start(self, context: Context) -> None:
        """Adds the hook to `gc.callbacks`."""
        self._context = context
        self._began_ns = 0
        self._gathered_ns = 0
        self._noted: deque[tuple[GcPause | None, int]] = deque()
        self._places = SourcePlaces.of_process()
        self._forced: dict[tuple[str, str], int] = {}
        self._callers: deque[tuple[str, str]] = deque()
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
            if info.get("generation") == _OLDEST_GENERATION:
                self._note_caller(sys._getframe().f_back)  # whom the collection interrupts
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

    def _note_caller(self, frame: FrameType | None) -> None:
        if frame is None or threading.get_ident() != self._context.stopwatch.thread:
            return
        if not _is_forced(frame):
            return
        file, line = calling_line(frame)
        if file:
            through = CLEAR_SESSION if _passes_through(frame, CLEAR_SESSION) else ""
            self._callers.append((self._places.at(file, line), through))

    def _tell_callers(self) -> None:
        while self._callers:
            caller = self._callers.popleft()
            calls = self._forced[caller] = self._forced.get(caller, 0) + 1
            if len(self._forced) <= _MOST_CALLERS and calls.bit_count() == 1:
                place, through = caller
                numbers = {"calls": float(calls)} | ({through: 1.0} if through else {})
                self._context.emit(Fact(names.GC_FORCED, place, numbers))

    def _hand_over(self) -> None:
        self._tell_callers()
        self._context.stopwatch.remove_asker(self._hand_over)
        while self._noted:
            pause, nanoseconds = self._noted.popleft()
            if nanoseconds:
                self._context.stopwatch.book(names.GC, nanoseconds)
            self._emit(pause)

    def _emit(self, pause: GcPause | None) -> None:
        if pause is not None:
            self._context.emit(pause)


def _is_forced(frame: FrameType) -> bool:
    """Whether the program asked for the full collection that begins in this frame.

    Python starts one by itself only when more objects than the threshold were made
    and so many younger collections have been. That can be so when the program asks, too:
    then the function that does names `collect`.
    """
    if not gc.isenabled() or "collect" in frame.f_code.co_names:
        return True
    counts, thresholds = gc.get_count(), gc.get_threshold()
    return not (counts[0] > thresholds[0] and counts[2] > thresholds[2])


def _passes_through(frame: FrameType | None, function: str) -> bool:
    """Whether one of the innermost frames is of a function of this name."""
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return False
        if frame.f_code.co_name == function:
            return True
        frame = frame.f_back
    return False


def _matters(generation: int, nanoseconds: int) -> bool:
    return generation >= _OLDEST_GENERATION or nanoseconds >= _WORTH_AN_EVENT_NS
