"""The training thread's side of the monitor: one tuple a step, and nothing else.

Everything here runs between two steps of somebody's training, so it only reads
clocks and appends to a deque. Tables, compression and files are made of it in
the background (`writer/output/tables.py`, `writer/monitor.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.records.types import Epoch
from tb_slowdown_plugin.writer.steps import (
    misuse,
)
from tb_slowdown_plugin.writer.steps.misuse import STEP_LIMIT, item_count, step_kind, step_number
from tb_slowdown_plugin.writer.steps.notes import Notes
from tb_slowdown_plugin.writer.steps.periods import (
    CPU_REST_NS,
    IDLE_NS,
    NEVER,
    Periods,
)
from tb_slowdown_plugin.writer.steps.profiler_annotation import (
    StepTrace,
)
from tb_slowdown_plugin.writer.steps.step_end_queue import Due

if TYPE_CHECKING:
    from tb_slowdown_plugin.writer.steps.profiler_annotation import ProfilerAnnotation


class Recorder(Periods):
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

    __slots__ = (
        "_begun_ns",
        "_is_profiled",
        "_items",
        "_kind",
        "_last_number",
        "_number",
        "_phases_around",
        "_trace",
        "batch_items",
        "batch_observers",
        "due",
        "in_step",
        "is_left",
        "is_tracing",
        "notes",
        "open_phases",
    )

    def __init__(
        self,
        clock: Clock | None = None,
        stopwatch: Stopwatch | None = None,
        is_tracing: Callable[[], bool] = lambda: False,
        is_profiled: Callable[[], bool] = lambda: False,
        annotate: Callable[[str, int], ProfilerAnnotation] | None = None,
    ) -> None:
        clock = clock or Clock()
        super().__init__(clock, stopwatch or Stopwatch(clock.monotonic_ns))
        self.is_tracing = is_tracing
        self._is_profiled = is_profiled
        self._trace = StepTrace(annotate)
        self.due = Due()
        """What is to be done at the end of this step."""
        self.batch_items: float | None = None
        """Items of the last batch that was fetched: of steps that do not tell theirs."""
        self.batch_observers: list[Callable[[Any], None]] = []
        """Called with the batches that `tbslow.data` fetches, but for those that look like the one
        before (`Glance`). They never raise."""
        self.is_left: Callable[[], bool] = lambda: False
        """Asked before a step is refused because one is open: whether that was left behind
        by an exception. If so, whoever opened it closes it first."""
        self.notes = Notes(self.emit)
        self.open_phases: list[object] = []
        """Phases that are open, innermost last."""
        self.in_step = False
        """Whether a step is open."""
        self._begun_ns = 0
        self._number = 0
        self._last_number = -1
        self._items: float | None = None
        self._kind = "train"
        self._phases_around = 0

    @property
    def items(self) -> float | None:
        """What the step that is open, or ended last, was said to hold; None where unknown."""
        return self._items

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
        if self.in_step:
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
        watch = self.stopwatch
        if get_ident() != watch.thread:
            self._claim()
        if self.in_step:
            self._refuse(self._number)
        if (watch.opened or not watch.sees_traces) and self.is_tracing():
            misuse.traced(self._number)
        self._begun_ns = begun_ns = self._monotonic_ns()
        if begun_ns - self._ended_ns > IDLE_NS:
            self._open_after_gap(begun_ns)
        self._phases_around = len(self.open_phases)
        if self._is_profiled():
            self._trace.open(self._kind, self._number)
        self.in_step = True  # last: an interrupt in here must leave no step open

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends the step; cancels it where the user's code raised."""
        self.in_step = False  # first, likewise
        if kind is not None:
            self._close_what_is_open()
            return
        if self._trace.is_open:
            self._trace.close()
        watch = self.stopwatch
        if watch.opened:
            self._close_phases()
        accounts: dict[str, int] | int | None = None
        ended_ns = self._monotonic_ns()
        if (
            watch.booked
            or watch.opened
            or ended_ns >= watch.ask_ns
            or ended_ns - self._ended_ns > watch.long_ns
        ):
            accounts = watch.take() or None
            ended_ns = watch.changed_ns
        else:
            watch.changed_ns = ended_ns
            if watch.waited_ns:
                accounts = watch.waited_ns
                watch.waited_ns = 0
        process_cpu_ns = thread_cpu_ns = None
        if ended_ns >= self._cpu_due_ns:
            self._cpu_ns = process_cpu_ns = self._process_cpu_ns()
            thread_cpu_ns = self._thread_cpu_ns()
            self._cpu_due_ns = ended_ns + CPU_REST_NS
            if watch.cpu_observer is not None:
                watch.cpu_observer()
        self._last_number = number = self._number
        items = self._items
        if items is None:
            items = self.batch_items
        ran, calls, argument_size = watch.ran, watch.calls, watch.argument_size
        watch.ran = watch.calls = watch.argument_size = 0
        # An interrupt comes after a call: the row is counted and kept, or neither.
        self._ended_ns = ended_ns
        row = self.rows
        self.rows = row + 1
        self._append(
            (
                row,
                number,
                self._begun_ns,
                ended_ns,
                process_cpu_ns,
                thread_cpu_ns,
                items,
                self._kind,
                accounts,
                ran,
                calls,
                argument_size,
            )
        )
        if self.due.is_any:
            for at, epoch in self.due.do(self._kind):
                self.emit_at(at, Epoch(epoch))

    def end(self) -> None:
        """The step ends.

        Raises:
          UsageError: No step is open.
        """
        if not self.in_step:
            misuse.ended_twice()
        self.__exit__(None, None, None)

    def go_on(self, step: int) -> None:
        """A step of kind "train" begins where the one before has ended, in the same thread.

        For a caller that knows that nothing lies between two steps, and traces nothing.
        """
        self._begun_ns = self._ended_ns
        self._number = step
        self._items = None
        self._kind = "train"
        self._phases_around = len(self.open_phases)
        self.in_step = True
        if self._is_profiled():
            self._trace.open("train", step)

    def cancel(self) -> None:
        """What was begun was no step; its time goes to the next one."""
        if self.in_step:
            self.in_step = False
            self._close_what_is_open()

    # -- phases -----------------------------------------------------------------

    def close_phase(self, phase: object) -> bool:
        """Closes the innermost phase of this stretch; False where `phase` is another one."""
        if len(self.open_phases) <= (self._phases_around if self.in_step else 0):
            return False
        if self.open_phases[-1] is not phase:
            return False
        self.open_phases.pop()
        self.stopwatch.close()
        return True

    # -- events -----------------------------------------------------------------

    def mark_epoch(self, number: int) -> None:
        """An epoch begins with the step under way, or the next one."""
        marked = self.due.mark_epoch(self.rows, number)
        if marked is not None:
            self.emit(Epoch(number))

    def silence(self) -> None:
        """From now on nothing is kept; steps and phases stay legal. For a forked child."""
        super().silence()
        self.due.clear()

    # -- what is rare -----------------------------------------------------------

    def _refuse(self, step: int | None) -> None:
        name = "a step" if step is None else f"step {step!r}"
        if get_ident() != self.stopwatch.thread:
            misuse.other_thread(name)
        if not self.is_left():
            misuse.nested(name, self._number)

    def _claim(self) -> None:
        watch = self.stopwatch
        if self.is_tracing():
            misuse.traced(self._number)
        if watch.thread and (self.rows or self.in_step):
            misuse.other_thread(f"step {self._number}")
        # Data may have been fetched in a loader thread before the first step.
        while watch.depth:
            watch.close()
        watch.claim()
        self._ended_ns = NEVER

    def _close_what_is_open(self) -> None:
        if self._trace.is_open:
            self._trace.close()
        if len(self.open_phases) != self._phases_around:
            self._close_phases()

    def _close_phases(self) -> None:
        while len(self.open_phases) > self._phases_around:
            self.open_phases.pop()
            self.stopwatch.close()
