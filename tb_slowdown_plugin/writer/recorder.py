"""The training thread's side of the monitor: one tuple a step, and nothing else.

Everything here runs between two steps of somebody's training, so it only reads
clocks and appends to a deque. Tables, compression and files are made of it in
the background (`writer/rows.py`, `writer/monitor.py`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from tb_slowdown_plugin.collectors.clock import Clock
from tb_slowdown_plugin.collectors.stopwatch import Stopwatch
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.records.types import Epoch, Event, Idle, What
from tb_slowdown_plugin.writer.arguments import STEP_LIMIT, item_count, step_kind, step_number
from tb_slowdown_plugin.writer.entries import Entry, Opening, Sample
from tb_slowdown_plugin.writer.epochs import Epochs

if TYPE_CHECKING:
    from tb_slowdown_plugin.writer.annotation import Annotation

IDLE_SECONDS: Final = 60.0
"""A longer gap between two steps, with almost no CPU time, is idle time, not training."""
IDLE_CPU_FRACTION: Final = 0.02
"""Of one core: a waiting notebook uses less, even a slow data pipeline more."""
MAX_PENDING_STEPS: Final = 1 << 16
"""Steps kept while nobody fetches them: minutes of the fastest loops, some 20 MB."""

_IDLE_NS: Final = int(IDLE_SECONDS * 1e9)
_NEVER: Final = -(1 << 62)


class Recorder:
    """What the training thread appends to; also the context manager of a step.

    A step is `begin`, `end`, or `cancel` where it was no step after all. The
    time of a cancelled step goes to the period of the next one, so that the
    periods still add up to the wall time. All three belong to one thread.

    Example:
      >>> recorder = Recorder()
      >>> recorder.begin(7)
      >>> recorder.end()
      >>> recorder.rows
      1
    """

    # Slots: a step reads and writes some twenty of these.
    __slots__ = (
        "_after_steps",
        "_annotate",
        "_annotation",
        "_append",
        "_begun_ns",
        "_ended_cpu_ns",
        "_ended_ns",
        "_epochs",
        "_in_step",
        "_is_profiled",
        "_items",
        "_kind",
        "_last_number",
        "_monotonic_ns",
        "_number",
        "_phases_around",
        "_process_cpu_ns",
        "_sample_due",
        "_something_due",
        "_thread_cpu_ns",
        "batch_items",
        "batch_observers",
        "clock",
        "entries",
        "events",
        "is_left",
        "is_tracing",
        "open_phases",
        "rows",
        "sample",
        "samples",
        "stopwatch",
    )

    def __init__(
        self,
        clock: Clock | None = None,
        stopwatch: Stopwatch | None = None,
        is_tracing: Callable[[], bool] = lambda: False,
        is_profiled: Callable[[], bool] = lambda: False,
        annotate: Callable[[str, int], Annotation] | None = None,
    ) -> None:
        self.clock = clock or Clock()
        self.stopwatch = stopwatch or Stopwatch(self.clock.monotonic_ns)
        self.is_tracing = is_tracing
        self._is_profiled = is_profiled
        self._annotate = annotate
        self._annotation: Annotation | None = None
        self._after_steps: list[Callable[[], bool]] = []
        self.entries: deque[Entry] = deque(maxlen=MAX_PENDING_STEPS)
        self.events: deque[Event] = deque(maxlen=MAX_PENDING_STEPS)
        self.samples: deque[Sample] = deque(maxlen=MAX_PENDING_STEPS)
        self.rows = 0
        """Steps finished."""
        self.sample: Callable[[], None] = lambda: None
        """What the end of a step calls after `ask_for_sample`."""
        self.batch_items: float | None = None
        """Items of the last batch that was fetched: of steps that do not tell theirs."""
        self.batch_observers: list[Callable[[Any], None]] = []
        """Called with each batch that `tbslow.data` fetches. They never raise."""
        self.is_left: Callable[[], bool] = lambda: False
        """Asked before a step is refused because one is open: whether that was left behind
        by an exception. If so, whoever opened it closes it first."""
        self.open_phases: list[object] = []
        """Phases that are open, innermost last."""
        self._monotonic_ns = self.clock.monotonic_ns
        self._process_cpu_ns = self.clock.process_cpu_ns
        self._thread_cpu_ns = self.clock.thread_cpu_ns
        self._append = self.entries.append
        self._in_step = False
        self._begun_ns = 0
        self._ended_ns = _NEVER
        self._ended_cpu_ns = 0
        self._number = 0
        self._last_number = -1
        self._items: float | None = None
        self._kind = "train"
        self._phases_around = 0
        self._something_due = self._sample_due = False
        self._epochs = Epochs()

    # -- steps ------------------------------------------------------------------

    def begin(
        self, step: int | None = None, items: float | None = None, kind: str = "train"
    ) -> None:
        """A step begins.

        Args:
          step: Its number; by default the number after the last one.
          items: Examples, rows or tokens in it, None where unknown.
          kind: Steps of different kinds are never compared with each other.

        Raises:
          UsageError: A step is open, the thread is another one than that of the
            first step, a `tf.function` is being traced, or an argument is wrong.
        """
        self.prepare(step, items, kind).__enter__()

    def prepare(self, step: int | None, items: float | None, kind: str) -> Recorder:
        """Keeps the arguments of the step that `__enter__` begins; returns itself."""
        if self._in_step:
            self._refuse(step)
        if step is None:
            self._number = self._last_number + 1
        else:
            self._number = (
                step if type(step) is int and 0 <= step < STEP_LIMIT else step_number(step)
            )
        self._items = None if items is None else item_count(items)
        if kind is not self._kind:
            self._kind = step_kind(kind)
        return self

    def __enter__(self) -> None:
        """Begins the step that was prepared."""
        if get_ident() != self.stopwatch.thread:
            self._claim()
        if self._in_step:
            self._refuse(self._number)
        if self.is_tracing():
            raise UsageError(
                f"step {self._number} is opened inside a tf.function, where it would run only "
                "while the function is traced; open it around the call of the function"
            )
        self._begun_ns = begun_ns = self._monotonic_ns()
        if begun_ns - self._ended_ns > _IDLE_NS:
            self._open_after_gap(begun_ns)
        self._phases_around = len(self.open_phases)
        self._in_step = True
        if self._is_profiled():
            self._open_annotation()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends the step; cancels it where the user's code raised."""
        if kind is not None:
            self.cancel()
            return
        if self._annotation is not None:
            self._close_annotation()
        if len(self.open_phases) != self._phases_around:
            self._close_phases()
        watch = self.stopwatch
        if watch.booked or watch.opened or watch.askers:
            accounts = watch.take() or None
            ended_ns = watch.changed_ns
        else:
            accounts = None
            ended_ns = self._monotonic_ns()
        cpu_ns = self._process_cpu_ns()
        self._last_number = number = self._number
        items = self._items
        if items is None:
            items = self.batch_items
        self._append(
            (
                self.rows,
                number,
                self._begun_ns,
                ended_ns,
                cpu_ns,
                self._thread_cpu_ns(),
                items,
                self._kind,
                accounts,
            )
        )
        self._ended_ns = ended_ns
        self._ended_cpu_ns = cpu_ns
        self._in_step = False
        self.rows += 1
        if self._something_due:
            self._do_what_is_due()

    def end(self) -> None:
        """The step ends.

        Raises:
          UsageError: No step is open.
        """
        if not self._in_step:
            raise UsageError("a step is ended, but none is open; begin one first")
        self.__exit__(None, None, None)

    def cancel(self) -> None:
        """What was begun was no step; its time goes to the next one."""
        if not self._in_step:
            return
        if self._annotation is not None:
            self._close_annotation()
        if len(self.open_phases) != self._phases_around:
            self._close_phases()
        self._in_step = False

    @property
    def in_step(self) -> bool:
        """Whether a step is open."""
        return self._in_step

    @property
    def ended_ns(self) -> int:
        """When the last step ended, or the period was opened; long ago before either."""
        return self._ended_ns

    # -- periods ----------------------------------------------------------------

    def open_period(self) -> None:
        """The first period begins now, unless one is running.

        Called at the first data fetch; a step without one opens its own.
        """
        if self._ended_ns == _NEVER and self.is_mine():
            self._open(self._monotonic_ns())

    def close_period(self) -> None:
        """What comes now belongs to no step, until `open_period` or the next step.

        For a stretch that is not training, such as the time between two calls of `fit`.
        """
        self._ended_ns = _NEVER

    def close_phase(self, phase: object) -> bool:
        """Closes the innermost phase of this stretch; False where `phase` is another one."""
        if len(self.open_phases) <= (self._phases_around if self._in_step else 0):
            return False
        if self.open_phases[-1] is not phase:
            return False
        self.open_phases.pop()
        self.stopwatch.close()
        return True

    def is_mine(self) -> bool:
        """Whether this is the training thread; the first to ask becomes it."""
        if self.stopwatch.thread == 0:
            self.stopwatch.claim()
        return self.stopwatch.is_mine()

    # -- events -----------------------------------------------------------------

    def emit(self, what: What) -> None:
        """Records that something happened now, in the step under way. Any thread."""
        self.events.append(Event(self.rows, self.clock.unix_seconds(), what))

    def add_sample(self, values: dict[str, float]) -> None:
        """Records the values of some signals now. Any thread."""
        self.samples.append(Sample(self.clock.unix_seconds(), self.rows, values))

    def mark_epoch(self, number: int) -> None:
        """An epoch begins with the step under way, or the next one."""
        self._emit_epoch(self._epochs.mark(self.rows, number))

    def expect_epoch(self, first_row: int) -> None:
        """A pass over data that began at `first_row` is an epoch if this step ends well."""
        self._epochs.expect(first_row)
        self._something_due = True

    def ask_for_sample(self) -> None:
        """Has the end of the next step call `sample`. Any thread."""
        self._sample_due = True
        self._something_due = True

    def call_after_steps(self, call: Callable[[], bool]) -> None:
        """Has the training thread call it after each step as long as it returns True. Any thread.

        Args:
          call: Must not raise.
        """
        self._after_steps.append(call)
        self._something_due = True

    def silence(self) -> None:
        """From now on nothing is kept; steps and phases stay legal. For a forked child."""
        self.entries = deque(maxlen=0)
        self.events = deque(maxlen=0)
        self.samples = deque(maxlen=0)
        self._append = self.entries.append
        self._after_steps.clear()

    # -- what is rare -----------------------------------------------------------

    def _refuse(self, step: int | None) -> None:
        name = "a step" if step is None else f"step {step!r}"
        if get_ident() != self.stopwatch.thread:
            self._refuse_thread(name)
        if self.is_left():
            return
        raise UsageError(
            f"{name} is opened inside step {self._number}; steps do not nest: "
            "leave the outer `with tbslow.summary.step()` first, "
            "or use `tbslow.summary.phase(...)` for a part of a step"
        )

    def _refuse_thread(self, name: str) -> NoReturn:
        raise UsageError(
            f"{name} is opened in thread {threading.current_thread().name!r}, but the steps "
            "before it in another one; a run has one training thread: open all its steps there"
        )

    def _claim(self) -> None:
        watch = self.stopwatch
        if watch.thread and (self.rows or self._in_step):
            self._refuse_thread(f"step {self._number}")
        # Data may have been fetched in a loader thread before the first step.
        while watch.depth:
            watch.close()
        watch.claim()
        self._ended_ns = _NEVER

    def _open(self, at_ns: int) -> None:
        self.stopwatch.take()
        self._ended_ns = at_ns
        self._ended_cpu_ns = cpu_ns = self._process_cpu_ns()
        self._append(Opening(at_ns, cpu_ns, self._thread_cpu_ns()))

    def _open_after_gap(self, begun_ns: int) -> None:
        if self._ended_ns == _NEVER:
            self._open(begun_ns)
            return
        watch = self.stopwatch
        booked = watch.take()
        watch.booked.update(booked)
        idle_ns = begun_ns - self._ended_ns - sum(booked.values())
        cpu_ns = self._process_cpu_ns() - self._ended_cpu_ns
        if is_idle(idle_ns, cpu_ns):
            self._append(Opening(self._ended_ns + idle_ns, None, None))
            self.emit(Idle(idle_ns / 1e9))

    def _close_phases(self) -> None:
        while len(self.open_phases) > self._phases_around:
            self.open_phases.pop()
            self.stopwatch.close()

    def _open_annotation(self) -> None:
        if self._annotate is not None:
            try:
                self._annotation = self._annotate(self._kind, self._number)
            except Exception:  # noqa: BLE001 - the training must not see it
                self._annotate = None

    def _close_annotation(self) -> None:
        annotation, self._annotation = self._annotation, None
        if annotation is not None:
            try:
                annotation.__exit__(None, None, None)
            except Exception:  # noqa: BLE001 - the training must not see it
                self._annotate = None

    def _do_what_is_due(self) -> None:
        self._something_due = False
        for call in tuple(self._after_steps):
            if call():
                self._something_due = True
            else:
                self._after_steps.remove(call)
        if self._sample_due:
            self._sample_due = False
            self.sample()
        for row, number in self._epochs.confirm(self._kind):
            self._emit_epoch((row, number))

    def _emit_epoch(self, marked: tuple[int, int] | None) -> None:
        if marked is not None:
            row, number = marked
            self.events.append(Event(row, self.clock.unix_seconds(), Epoch(number)))


def is_idle(passed_ns: int, cpu_ns: int) -> bool:
    """Whether a gap between two steps is no training: a notebook was left alone.

    Args:
      passed_ns: How long it was, without what is known to have happened in it.
      cpu_ns: CPU time of the process meanwhile.

    Example:
      >>> is_idle(600_000_000_000, 1_000_000_000), is_idle(600_000_000_000, 60_000_000_000)
      (True, False)
    """
    return passed_ns > _IDLE_NS and cpu_ns < IDLE_CPU_FRACTION * passed_ns
