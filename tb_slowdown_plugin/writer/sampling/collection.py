"""The collectors of one monitor: started, read and stopped so that none can hurt."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from tb_slowdown_plugin.collectors.base import (
    Collector,
    Context,
    Unavailable,
    beside_legacy,
    on_backend,
    other_backend,
)
from tb_slowdown_plugin.collectors.timing.thread_files import cpu_time_of
from tb_slowdown_plugin.errors import reason_of, scrub
from tb_slowdown_plugin.records.types import CollectorState, CollectorStatus

_T = TypeVar("_T")

HANG_SECONDS: Final = 2.0
"""A reading or a start in the background that takes longer, and does nothing, hangs."""
ENDLESS_SECONDS: Final = 300.0
"""One that takes longer is given up whatever it does: the longest healthy one, a census of a
million tensors, takes 3 s."""
_PROBES: Final = 20
_PROBE_SECONDS: Final = 0.0005
_LATE_SECONDS: Final = 0.01
"""A thread that wakes later than this waits for a core or for Python's lock."""
_WORKS: Final = 0.1
"""Share of a core from which a thread is at work."""


class _Call(NamedTuple):
    name: str
    what: str
    began_ns: int
    thread: int


class Collection:
    """Runs collectors; one that raises, hangs or returns nonsense is switched off and listed so."""

    def __init__(
        self,
        collectors: Iterable[Collector],
        disabled: Iterable[str],
        report_failure: Callable[[str, str], None],
    ) -> None:
        self._report_failure = report_failure
        self._states: dict[str, CollectorState] = {}
        self._waiting: list[Collector] = []
        self._put_off: deque[tuple[Collector, Context]] = deque()
        self._running: dict[str, Collector] = {}
        self._sampled: dict[str, Collector] = {}
        self._sampled_in_thread: dict[str, Collector] = {}
        self._call: _Call | None = None
        self._turn = threading.Lock()
        self._now_ns: Callable[[], int] = time.perf_counter_ns
        off = set(disabled)
        for collector in collectors:
            if collector.name in off:
                self._set(collector.name, "off", "switched off by the user")
            else:
                self._waiting.append(collector)

    def states(self) -> tuple[CollectorState, ...]:
        """Which collectors run, and why the others do not; none that is still to be started."""
        backend = other_backend()
        return tuple(
            beside_legacy(on_backend(state, backend)) for state in list(self._states.values())
        )

    def start(self, context: Context) -> None:
        """Starts all that are not switched off, and leaves those to `read` that hook nothing."""
        self._now_ns = context.clock.monotonic_ns
        for collector in self._waiting:
            if getattr(collector, "in_background", False):
                self._put_off.append((collector, context))
            else:
                self._enter(collector, self._start(collector, context))
        self._waiting.clear()

    def start_put_off(self) -> bool:
        """Starts those that hook nothing, if that is to be done; the sampling thread calls it.

        Returns:
          False where one came back only after it was given up: another thread samples by now.
        """
        while self._put_off:
            if not self._start_in_background(*self._put_off.popleft()):
                return False
        return True

    def stop(self) -> None:
        """Stops all that run."""
        self._put_off.clear()
        for name in list(self._running):
            self._switch_off(name)

    def read(self, *, cheap: bool = False) -> dict[str, float] | None:
        """The values of all sampled collectors; the sampling thread calls it.

        Args:
          cheap: Only of those that are read between two samples.

        Returns:
          None where a collector came back only after it was given up: another thread
          samples by now.
        """
        if not self.start_put_off():
            return None
        values: dict[str, float] = {}
        for name, collector in list(self._sampled.items()):
            if cheap and not getattr(collector, "is_cheap", False):
                continue
            call = self._begin(name, "a reading")
            values.update(self._read(name, collector, "read"))
            if not self._end(call):
                self._stop(name, collector)
                return None
        return values

    def look_once(self) -> bool:
        """Lets those look that have something to look at once; the sampling thread calls it.

        Returns:
          False where one came back only after it was given up: another thread samples by now.
        """
        for name, collector in list(self._sampled.items()):
            if hasattr(collector, "look_once"):
                call = self._begin(name, "a look")
                self._guard(name, collector.look_once)
                if not self._end(call):
                    self._stop(name, collector)
                    return False
        return True

    def tell_due(self, due_ns: int) -> None:
        """Before `read`: when the sampling thread was due, by the monotonic clock."""
        for collector in list(self._sampled.values()):
            if hasattr(collector, "due_ns"):
                collector.due_ns = due_ns

    def look_late(self, seconds: float) -> None:
        """Before `read`, where the sampling thread woke up so many seconds late."""
        for name, collector in list(self._sampled.items()):
            if hasattr(collector, "look_late"):
                self._guard(name, partial(collector.look_late, seconds))

    def read_in_thread(self) -> dict[str, float]:
        """The values of the collectors that the training thread must read; it calls this."""
        values: dict[str, float] = {}
        for name, collector in list(self._sampled_in_thread.items()):
            values.update(self._read(name, collector, "read_in_thread"))
        return values

    def give_up_reading(
        self, is_stuck: Callable[[int], bool], after_seconds: float = HANG_SECONDS
    ) -> bool:
        """Switches the collector off that hangs in `read`; says whether there was one.

        Called from another thread than the one that reads: that one is lost until the
        collector comes back.

        Args:
          is_stuck: Whether a thread, given by its ident, neither works nor waits for its turn.
          after_seconds: A reading that is not older does not hang.
        """
        call = self._call
        if call is None:
            return False
        seconds = (self._now_ns() - call.began_ns) / 1e9
        if seconds < after_seconds:
            return False
        if seconds < ENDLESS_SECONDS and not is_stuck(call.thread):
            return False
        with self._turn:
            if self._call is not call:
                return False
            self._call = None
            self._take_out(call.name)
        reason = f"{call.what} did not come back for {seconds:.1f} seconds"
        self._set(call.name, "failed", reason)
        self._report_failure(call.name, reason)
        return True

    @property
    def is_curious(self) -> bool:
        """Whether any that is read between two samples has more to see than it was shown."""
        return any(getattr(each, "is_curious", False) for each in list(self._sampled.values()))

    @property
    def needs_thread(self) -> bool:
        """Whether any is read in the training thread."""
        return bool(self._sampled_in_thread)

    def _begin(self, name: str, what: str) -> _Call:
        call = self._call = _Call(name, what, self._now_ns(), threading.get_ident())
        return call

    def _end(self, call: _Call) -> bool:
        """Whether it came back before it was given up."""
        with self._turn:
            in_time = self._call is call
            if in_time:
                self._call = None
        return in_time

    def _start_in_background(self, collector: Collector, context: Context) -> bool:
        """Whether it came back before it was given up."""
        call = self._begin(collector.name, "its start")
        state = self._start(collector, context)
        in_time = self._end(call)
        if in_time:
            self._enter(collector, state)
        elif state.status == "running":
            self._stop(collector.name, collector)
        return in_time

    def _start(self, collector: Collector, context: Context) -> CollectorState:
        try:
            collector.start(context)
        except Unavailable as why:
            return CollectorState(collector.name, "unavailable", scrub(str(why)))
        except Exception as error:  # noqa: BLE001, no collector may stop the training
            return CollectorState(collector.name, "failed", reason_of(error))
        caveat = scrub(str(getattr(collector, "caveat", "")))
        return CollectorState(collector.name, "running", caveat)

    def _enter(self, collector: Collector, state: CollectorState) -> None:
        """Takes a collector in that has been started, or lists why it could not be."""
        self._states[state.name] = state
        if state.status == "running":
            self._running[state.name] = collector
            if hasattr(collector, "read"):
                self._sampled[state.name] = collector
            if hasattr(collector, "read_in_thread"):
                self._sampled_in_thread[state.name] = collector
        elif state.status == "failed":
            self._report_failure(state.name, state.reason)

    def _read(self, name: str, collector: Collector, method: str) -> dict[str, float]:
        read: Callable[[], Mapping[str, Any]] = getattr(collector, method)
        return self._guard(name, lambda: _checked(read())) or {}

    def _guard(self, name: str, look: Callable[[], _T]) -> _T | None:
        try:
            return look()
        except Unavailable as why:
            self._switch_off(name)
            self._set(name, "unavailable", scrub(str(why)))
        except Exception as error:  # noqa: BLE001, no collector may stop the training
            self._switch_off(name)
            self._fail(name, error)
        return None

    def _switch_off(self, name: str) -> None:
        collector = self._take_out(name)
        if collector is not None:
            self._stop(name, collector)

    def _take_out(self, name: str) -> Collector | None:
        self._sampled.pop(name, None)
        self._sampled_in_thread.pop(name, None)
        return self._running.pop(name, None)

    def _stop(self, name: str, collector: Collector) -> None:
        try:
            collector.stop()
        except Exception as error:  # noqa: BLE001, no collector may stop the training
            self._fail(name, error)

    def _fail(self, name: str, error: Exception) -> None:
        reason = reason_of(error)
        self._set(name, "failed", reason)
        self._report_failure(name, reason)

    def _set(self, name: str, status: CollectorStatus, reason: str = "") -> None:
        self._states[name] = CollectorState(name, status, reason)


def _checked(values: Mapping[str, Any]) -> dict[str, float]:
    checked = {}
    for name, value in values.items():
        number = float(value)
        if not 0.0 <= number < math.inf:
            rule = "and no signal is below zero" if number < 0.0 else "not a finite number"
            raise ValueError(f"{name} is {number}, {rule}")
        checked[name] = number
    return checked


def is_stuck(thread: int) -> bool:
    """Whether a thread neither works nor waits for its turn; takes 10 ms to find out.

    Where the training keeps the cores or Python's lock, a reading takes long for no fault
    of its collector; and a census of many tensors takes its time, but works.

    Args:
      thread: As `threading.get_ident()`.
    """
    before, began_ns = cpu_time_of(thread), time.perf_counter_ns()
    if not _threads_run_freely():
        return False
    worked_ns = (cpu_time_of(thread) or 0) - (before or 0)
    return worked_ns < _WORKS * (time.perf_counter_ns() - began_ns)


def _threads_run_freely() -> bool:
    """Whether this thread gets a core and Python's lock whenever it asks."""
    for _ in range(_PROBES):
        asked = time.perf_counter()
        time.sleep(_PROBE_SECONDS)
        if time.perf_counter() - asked > _LATE_SECONDS:
            return False
    return True
