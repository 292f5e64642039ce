"""One session: from what the training thread appends to records in a sink.

It has no thread and no clock of its own: the monitor calls `tick` and `sample` from
two threads in the background, a test calls them with a clock that it sets.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Final

from tb_slowdown_plugin.catalog.events import MONITOR_STOPPED
from tb_slowdown_plugin.collectors.base import Collector, Context
from tb_slowdown_plugin.errors import reason_of
from tb_slowdown_plugin.records.types import (
    CollectorState,
    Environment,
    Fact,
    Failure,
    StepTable,
)
from tb_slowdown_plugin.writer.output.chunk_writer import ChunkWriter
from tb_slowdown_plugin.writer.output.outbox import Outbox, Sink
from tb_slowdown_plugin.writer.sampling import flush_schedule
from tb_slowdown_plugin.writer.sampling.collection import Collection, is_stuck
from tb_slowdown_plugin.writer.sampling.flush_pace import FlushPace
from tb_slowdown_plugin.writer.sampling.sampler import Sampling, sample_seconds
from tb_slowdown_plugin.writer.sampling.stall_watch import StallWatch
from tb_slowdown_plugin.writer.steps.recorder import Recorder

_log = logging.getLogger("tb_slowdown_plugin")


class WriterSession:
    """Samples collectors, encodes chunks and writes them; never raises.

    Args:
      recorder: What the training thread appends to.
      sink: Where records go.
      session: Eight hex digits that no other session in the logdir has.
      collectors: What to start; those named in `disabled` stay off.
      describe: Makes the environment record from the states of the collectors.
      logdir: The run's own directory, where it is known and local.
    """

    def __init__(
        self,
        recorder: Recorder,
        sink: Sink,
        session: str,
        collectors: Iterable[Collector] = (),
        disabled: Iterable[str] = (),
        describe: Callable[[tuple[CollectorState, ...]], Environment] = lambda states: Environment(
            collectors=states
        ),
        logdir: str | None = None,
    ) -> None:
        self.recorder = recorder
        self._outbox = Outbox(sink, self.report_failure)
        self._chunks = ChunkWriter(
            recorder, self._outbox, session, describe, self._note, self.report_failure
        )
        self._watched = set() if logdir is None else {logdir}
        self._clock = recorder.clock
        self._reported: set[str] = set()
        self._collection = Collection(collectors, disabled, self.report_failure)
        self._lock = threading.RLock()
        self._cpu_ns = 0
        self._sampling = Sampling(recorder, self._collection, lambda: self._cpu_ns)
        self._requests = flush_schedule.REQUESTS_AT_ONCE
        self._began = self._requested = self._next_flush = self._looked = self._now()
        self._looked_rows = 0
        self._flush_pace = FlushPace(self._began)
        self.stalls: Final = StallWatch(recorder, self.report_failure)
        self.forked = False
        self.on_hang: Callable[[], None] = lambda: None
        """Called where a reading does not come back: the thread that samples is lost."""
        self.observers: Final[list[Callable[[StepTable], None]]] = []
        """Are given the steps of each chunk, in the background thread; must not raise."""

    def start(self) -> None:
        """Starts the collectors, in the thread that is to train."""
        self._collection.start(
            Context(
                clock=self._clock,
                stopwatch=self.recorder.stopwatch,
                emit=self.recorder.emit,
                report_failure=self.report_failure,
                steps_finished=lambda: self.recorder.rows,
                batch_observers=self.recorder.batch_observers,
                watched=self._watched,
            )
        )
        self._sampling.start()
        self._began = self._now()
        self._next_flush = self._began + flush_schedule.flush_seconds(0.0)

    def tick(self) -> float:
        """Writes if that is due; returns the seconds until it has to be called again."""
        if self.forked:
            return flush_schedule.FLUSH_SECONDS
        if self._collection.give_up_reading(is_stuck):
            self.on_hang()
        now = self._now()
        is_stalled = self.stalls.look()
        if (
            self._flush_pace.is_due(self.recorder.rows, now)
            or is_stalled
            or now >= self._next_flush
            or len(self.recorder.entries) >= flush_schedule.STEPS_PER_FLUSH
        ):
            self._flush(whole=is_stalled)
            now = self._now()
        return max(0.0, min(self._next_flush - now, self._look_again(now)))

    def _look_again(self, now: float) -> float:
        """Seconds until a look at what waits to be written is due."""
        rows, passed = self.recorder.rows, now - self._looked
        look_seconds = flush_schedule.look_seconds(passed, rows - self._looked_rows)
        self._looked, self._looked_rows = now, rows
        return look_seconds

    def sample(self) -> float:
        """Samples if that is due; returns the seconds until it is due again."""
        if self.forked:
            return flush_schedule.FLUSH_SECONDS
        return self._sampling.sample()

    def flush(self, *, final: bool = False) -> None:
        """Writes everything that is pending. Any thread.

        Args:
          final: Nothing comes after it, so the newest sample is written as well,
            which otherwise waits for what the training thread adds to it.
        """
        if not self.forked:
            self._flush(whole=True, final=final)

    def _flush(self, *, whole: bool, final: bool = False) -> None:
        with self._lock:
            began_ns = self._clock.thread_cpu_ns()
            try:
                samples = self._sampling.drain(final=final)
                self._chunks.collect(samples, self._collection.states(), whole=whole)
            except Exception as error:  # noqa: BLE001, the training must not see it
                self.report_failure("encoding", reason_of(error))
            self._chunks.write()
            now = self._now()
            self._next_flush = now + flush_schedule.flush_seconds(now - self._began)
            self._cpu_ns += self._clock.thread_cpu_ns() - began_ns

    def _note(self, steps: StepTable) -> None:
        self.stalls.note(steps.period_seconds)
        for observe in self.observers:
            observe(steps)

    def flush_on_request(self) -> None:
        """Flushes, or soon does in the background where it is asked again and again.

        A program may enter its `tf.summary` writer's context anew for each step,
        and each exit flushes the writer: a record for each step would cost more
        than the step's scalars.
        """
        if self.forked or not (self.recorder.entries or self.recorder.events):
            return
        with self._lock:
            now = self._now()
            interval = sample_seconds(now - self._began)
            self._requests += (now - self._requested) / interval
            self._requests = min(self._requests, flush_schedule.REQUESTS_AT_ONCE)
            self._requested = now
            if self._requests >= 1.0:
                self._requests -= 1.0
                self.flush()
            else:
                self._next_flush = min(self._next_flush, now + interval)

    def stop(self) -> None:
        """Stops the collectors, writes what is pending and closes the sink."""
        if self.forked:
            return
        # Whoever stops it has waited for a reading under way: one that still is, hangs.
        if not self._collection.give_up_reading(lambda _: True, after_seconds=0.0):
            self._sampling.take()
        self.stalls.close()
        with self._lock:
            self._collection.stop()
            self.recorder.emit(Fact(MONITOR_STOPPED))
            self.flush(final=True)
            self._outbox.close()

    def leave(self) -> None:
        """Stops the collectors and writes nothing: there was no step."""
        self._collection.stop()

    def give_up(self, reason: str) -> None:
        """Stops the collectors only: a write hangs, and the program wants to end."""
        self.report_failure("writing", reason)
        self._collection.stop()

    def abandon(self) -> None:
        """Writes nothing any more: this is a forked child, the parent writes."""
        self.forked = True
        self.recorder.silence()

    @property
    def records(self) -> int:
        """Records made so far."""
        return self._chunks.records

    def report_failure(self, part: str, reason: str, spoken: str = "") -> None:
        """Records and warns, once a part, that something failed. Any thread.

        Args:
          part: What failed.
          reason: Why, fit for a logdir.
          spoken: Why, for the terminal alone; "" for the same.
        """
        if part in self._reported:
            return
        self._reported.add(part)
        self.recorder.emit(Failure(part, reason))
        _log.warning(
            "slowdown monitor: %s failed (%s); training goes on, the record says what is missing",
            part,
            spoken or reason,
        )

    def _now(self) -> float:
        return self._clock.monotonic_ns() / 1e9
