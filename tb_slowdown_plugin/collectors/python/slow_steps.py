"""Which line holds a slow step up, and whether it writes a file or waits for another thread.

No function of Python's files can be hooked without the program noticing, so they are looked
at from outside: a step that no clock explains, and that takes three times as long as usual, is
looked at while it lasts.

Cost: 150 us of a thread in the background beside a load of 6, five times a second in the first
minute and twice a second from the third on; 0.3 ms a look at a slow step.
"""

from __future__ import annotations

import platform
import threading
from collections import deque
from collections.abc import Callable
from statistics import median
from typing import Final, NamedTuple

from tb_slowdown_plugin.catalog import stack_samples
from tb_slowdown_plugin.catalog.events import SLOW_STEP
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.installed_code import program_frame
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, line_of
from tb_slowdown_plugin.collectors.python.still_frames import Frames, find_frames, stack_of
from tb_slowdown_plugin.collectors.python.waiting import WRITING_CALLS, Wait, find_wait
from tb_slowdown_plugin.collectors.timing.end_signal import EndSignal
from tb_slowdown_plugin.collectors.timing.thread_files import read_thread_file
from tb_slowdown_plugin.records.types import Fact

_EVERY_SECONDS: Final = 0.2
_OFTEN_SECONDS: Final = 60.0
"""How long it looks so often; then more and more seldom, as what comes again has been seen."""
_SELDOM_SECONDS: Final = 0.5
_LEAST_SECONDS: Final = 0.05
"""Time slices of other programs hold a step up for less."""
_USUAL: Final = 3.0
"""Times the usual step from which a step is slow."""
_USUAL_OF_LONG: Final = 1.25
_MORE_SECONDS: Final = 0.1
"""The same for long steps: so much longer, and so many seconds more."""
_LONGER: Final = 1.5
"""A step that goes on is looked at again when it took so much longer."""
_NEWEST: Final = 32
_LOOKS_APART: Final = 5
"""How many looks come before the bytes that were written are read again."""
_MOST_SLOW_STEPS: Final = 1_000
"""Slow steps that a record tells of."""
WRITTEN_BYTES: Final = 256 * 1024
"""Written while a step is slow, from which it writes a file."""


class LinuxTask(NamedTuple):
    """What Linux tells of a thread."""

    is_writing: bool
    """Whether it waits in a call that writes."""
    written_bytes: int
    """Since the thread began; what is in the page cache only, included."""


class _Slow(NamedTuple):
    """A step that is slow."""

    steps: int
    place: str
    written_bytes: int
    """Of the thread, at the first look."""
    is_writing: bool
    wait: Wait


class SlowSteps:
    """Looks at the training thread from a thread of its own.

    Args:
      frames: The frame that each thread is in, by the thread's identity.
      read_task: What Linux tells of a thread, by the thread's identity.
      find_wait: Whether a thread waits.
    """

    name = "slow_steps"

    def __init__(
        self,
        frames: Frames | None = None,
        read_task: Callable[[int], LinuxTask | None] | None = None,
        find_wait: Callable[[int, Frames], Wait] = find_wait,
    ) -> None:
        self._find_wait = find_wait
        self._frames = frames or find_frames()
        self._read_task = read_task or read_task_of
        self._over = EndSignal()
        self._thread: threading.Thread | None = None

    def start(self, context: Context) -> None:
        """Starts its thread.

        Raises:
          Unavailable: Linux or Python doesn't show what other threads do.
        """
        task = self._read_task(threading.get_ident())
        if self._frames is None or task is None:
            raise Unavailable("this system does not show what other threads do")
        self._context = context
        self._over = EndSignal()
        self._places = SourcePlaces.of_process()
        self._usual: deque[float] = deque(maxlen=_NEWEST)
        self._steps = 0
        self._began_ns = context.clock.monotonic_ns()
        self._next_ns = 0
        self._written_bytes = task.written_bytes
        self._looks = self._told = 0
        self._slow: _Slow | None = None
        self._thread = threading.Thread(target=self._run, name="tbslow slow steps", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends its thread."""
        self._over.come()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _run(self) -> None:
        began_ns = self._context.clock.monotonic_ns()
        rest = _EVERY_SECONDS
        while not self._over.wait(rest) and self._told < _MOST_SLOW_STEPS:
            age = (self._context.clock.monotonic_ns() - began_ns) / 1e9
            rest = min(_EVERY_SECONDS * max(1.0, age / _OFTEN_SECONDS), _SELDOM_SECONDS)
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - the training must not see it
                self._context.failure_of(self.name)(error)
                return

    def look(self) -> None:
        """One look, two to five times a second."""
        context = self._context
        steps, now_ns = context.steps_finished(), context.clock.monotonic_ns()
        thread = context.stopwatch.thread
        if not steps or not thread:
            return
        if steps != self._steps:
            if self._slow is not None:
                self._tell(self._slow, thread)
            if self._steps:
                self._usual.append((now_ns - self._began_ns) / 1e9 / (steps - self._steps))
            self._steps, self._began_ns, self._next_ns = steps, now_ns, 0
        # Since when nothing was booked: where no account is open, no clock knows what goes on.
        watch = context.stopwatch
        lasts_ns = now_ns - watch.changed_ns
        if not self._usual or watch.opened or lasts_ns < self._next_ns:
            return
        so_far = (lasts_ns + watch.booked_ns) / 1e9
        is_short = so_far <= _LEAST_SECONDS  # as nearly always: no median is needed
        usual = 0.0 if is_short else median(self._usual)
        if not is_short and so_far >= _slow_from(usual) and lasts_ns >= 1e9 * _LEAST_SECONDS:
            self._next_ns = int(_LONGER * lasts_ns)
            self._note(thread)
            return
        self._looks += 1
        if self._looks >= _LOOKS_APART and so_far <= max(usual, _LEAST_SECONDS):
            self._looks = 0
            task = self._read_task(thread)
            self._written_bytes = task.written_bytes if task else self._written_bytes

    def _note(self, thread: int) -> None:
        assert self._frames is not None
        frame = program_frame(stack_of(self._frames().get(thread)))
        place = None if frame is None else self._places.in_code(frame.f_code, line_of(frame))
        wait = self._find_wait(thread, self._frames)
        task = self._read_task(thread)
        if place is None or task is None or self._context.steps_finished() != self._steps:
            return
        if self._slow is None:
            self._slow = _Slow(self._steps, place, task.written_bytes, task.is_writing, wait)
        elif task.is_writing or task.written_bytes - self._slow.written_bytes >= WRITTEN_BYTES:
            self._slow = self._slow._replace(place=place, is_writing=True)

    def _tell(self, slow: _Slow, thread: int) -> None:
        self._slow = None
        task = self._read_task(thread)
        if task is None:
            return
        since = task.written_bytes - slow.written_bytes
        written, self._written_bytes = task.written_bytes - self._written_bytes, task.written_bytes
        self._told += 1
        numbers = {
            "writes": float(slow.is_writing or slow.wait == "writing" or since >= WRITTEN_BYTES),
            "written_bytes": float(written),
            **(
                {f"{stack_samples.WAITS}{slow.wait}": 1.0}
                if slow.wait in ("inside", "paused", "alone", "outside")
                else {}
            ),
            "ago": float(self._context.steps_finished() - slow.steps),  # last: steps go on
        }
        self._context.emit(Fact(SLOW_STEP, slow.place, numbers))


def _slow_from(usual: float) -> float:
    """Seconds from which a step is slow, where one usually takes `usual`."""
    return max(_LEAST_SECONDS, min(_USUAL * usual, _USUAL_OF_LONG * usual + _MORE_SECONDS))


def read_task_of(thread: int) -> LinuxTask | None:
    """What Linux tells of a thread of this process; None where it doesn't.

    Args:
      thread: As `threading.get_ident()`.
    """
    try:
        call = read_thread_file(thread, "syscall").split()[:1]
        counts = read_thread_file(thread, "io").split()
        written = int(counts[counts.index(b"wchar:") + 1])
    except (OSError, ValueError):
        return None
    number = int(call[0]) if call and call[0].isdigit() else -1
    return LinuxTask(number in WRITING_CALLS.get(platform.machine(), ()), written)
