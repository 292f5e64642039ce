"""Notices that no step ends any more, and records where each thread of the program is.

Cost: three comparisons each second in the background. Stacks are read only in a stall.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from statistics import median
from typing import Final, NamedTuple

from tb_slowdown_plugin.catalog import events, names
from tb_slowdown_plugin.catalog.accounts import WAITING, rule_of
from tb_slowdown_plugin.collectors.python.thread_places import ThreadPlaces, find_thread_places
from tb_slowdown_plugin.errors import reason_of
from tb_slowdown_plugin.records.types import Fact, Float
from tb_slowdown_plugin.writer.steps.recorder import Recorder

STALL_SECONDS: Final = 60.0
"""No shorter wait is a stall. Chosen by hand."""
STALL_MEDIANS: Final = 20.0
"""Usual steps that a stall lasts at least. Chosen by hand."""
_KNOWN_STEPS: Final = 256
"""Newest steps of which the usual one is the median."""
_MIN_STEPS: Final = 8
"""Before so many steps nobody knows what a step takes: the first compiles."""
_LOOK_AGAIN_SECONDS: Final = 10.0
"""How often stacks are read while no step comes."""
_MAX_PLACES: Final = 50
"""Changes of place that one stall records."""
_MAX_OTHERS: Final = 8
"""Places of other threads that are recorded at a time, those of most threads first."""
_ASLEEP_SECONDS: Final = 5.0
"""A longer pause of the background thread itself: the process was stopped, or the lock held."""


class StallStart(NamedTuple):
    """A stall has begun, or its place has changed."""

    place: str
    since: float
    """Unix seconds."""
    seconds: float


class StallEnd(NamedTuple):
    """A step has ended after all, or the monitor was stopped."""

    place: str
    since: float
    seconds: float


class StallWatch:
    """Is asked about each second by the background thread.

    Args:
      recorder: Knows the steps and the clocks; gets the facts.
      report_failure: (part, reason): it failed, and is off from then on.
      find_places: (training thread, whether a step is open) -> where all threads are.
      least_seconds: No shorter wait is a stall.
    """

    def __init__(
        self,
        recorder: Recorder,
        report_failure: Callable[[str, str], None],
        *,
        find_places: Callable[[int, bool], ThreadPlaces | None] = (
            lambda thread, is_in_step: find_thread_places(thread, is_in_step=is_in_step)
        ),
        least_seconds: float = STALL_SECONDS,
    ) -> None:
        self._recorder = recorder
        self._report_failure = report_failure
        self._find_places = find_places
        self.least_seconds = least_seconds
        self._steps: deque[float] = deque(maxlen=_KNOWN_STEPS)
        self._rows = 0
        self._cpu_ns = 0
        self._looked_ns = recorder.clock.monotonic_ns()
        self._asleep_ns = 0
        self._next_ns = 0
        self._seen: tuple[ThreadPlaces, str | None] | None = None
        self._told = 0
        self._start: StallStart | None = None
        self._is_off = False
        self.tell: Callable[[StallStart | StallEnd], None] = lambda _: None
        """Is told of stalls, but for those in long work that is known; must not raise."""

    def note(self, step_seconds: Float) -> None:
        """(S,) steps that were written: what a step usually takes."""
        self._steps.extend(step_seconds[-_KNOWN_STEPS:].tolist())

    def look(self) -> bool:
        """Whether there is news that should be written now. Never raises."""
        if self._is_off:
            return False
        try:
            return self._look()
        except Exception as error:  # noqa: BLE001, the training must not see it
            self._is_off = True
            self._report_failure("stalls", reason_of(error))
            return False

    def close(self) -> None:
        """The monitor is stopped: what looks like a stall now was the end of the training."""
        if self._seen is not None and self._rows == self._recorder.rows:
            self._recorder.emit(Fact(events.STALL_OVER))
        self._leave()

    def _look(self) -> bool:
        recorder = self._recorder
        now_ns = recorder.clock.monotonic_ns()
        away_ns, self._looked_ns = now_ns - self._looked_ns, now_ns
        if recorder.rows != self._rows:
            is_news = self._start is not None
            self._leave()
            self._rows, self._asleep_ns = recorder.rows, 0
            self._cpu_ns = recorder.clock.process_cpu_ns()
            return is_news
        if away_ns > _ASLEEP_SECONDS * 1e9:
            self._asleep_ns += away_ns
        passed = (now_ns - recorder.ended_ns - self._asleep_ns) / 1e9
        if not self._rows or passed < self.least_seconds or now_ns < self._next_ns:
            return False
        if len(self._steps) < _MIN_STEPS or passed < STALL_MEDIANS * median(self._steps):
            return False
        self._next_ns = now_ns + int(_LOOK_AGAIN_SECONDS * 1e9)
        return self._told < _MAX_PLACES and self._record(passed)

    def _record(self, seconds: float) -> bool:
        recorder = self._recorder
        places = self._find_places(recorder.stopwatch.thread, recorder.in_step)
        if places is None:
            return False
        seen = places, long_work(recorder.stopwatch.opened)
        if self._seen is not None and _is_same(self._seen, seen):
            return False
        self._seen = seen
        self._told += 1
        recorder.stalled_row = self._rows
        since = recorder.clock.unix_seconds() - seconds
        numbers = {
            "since": since,
            "seconds": seconds,
            "cpu_seconds": (recorder.clock.process_cpu_ns() - self._cpu_ns) / 1e9,
            "threads": float(places.threads),
        }
        account = seen[1]
        if account is not None:
            numbers[f"in:{account}"] = 1.0
        recorder.emit(Fact(events.STALL, places.training, numbers))
        ranked = sorted(places.others.items(), key=lambda pair: -pair[1])
        for place, threads in ranked[:_MAX_OTHERS]:
            recorder.emit(Fact(events.STALL_THREAD, place, {"threads": float(threads)}))
        if account is None:
            is_first = self._start is None
            self._start = StallStart(places.training, since, seconds)
            if is_first:
                self.tell(self._start)
        return True

    def _leave(self) -> None:
        start, self._start = self._start, None
        self._seen, self._told, self._next_ns = None, 0, 0
        if start is not None:
            ended = self._recorder.clock.unix_seconds()
            self.tell(StallEnd(start.place, start.since, ended - start.since))


def long_work(opened: Iterable[str]) -> str | None:
    """The open account that says what takes so long, None where nothing known does.

    Waiting is no work: for input and for other workers a run stalls.

    Example:
      >>> long_work(["phase:loss", "checkpoint"]), long_work(["input_wait"])
      ('checkpoint', None)
    """
    for account in tuple(opened):
        family = names.family(account)
        if family not in WAITING | {names.CALLBACK} and rule_of(account).class_ != "part":
            return account
    return None


def _is_same(before: tuple[ThreadPlaces, str | None], now: tuple[ThreadPlaces, str | None]) -> bool:
    return (before[0].training, before[0].others, before[1]) == (
        now[0].training,
        now[0].others,
        now[1],
    )
