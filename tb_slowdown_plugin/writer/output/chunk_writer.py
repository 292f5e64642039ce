"""What a session noted, made into chunks and handed to its outbox."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import Final, TypeVar

from tb_slowdown_plugin.errors import reason_of
from tb_slowdown_plugin.records import metadata
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.types import (
    Chunk,
    CollectorState,
    Environment,
    Event,
    StepTable,
)
from tb_slowdown_plugin.writer.output.outbox import Outbox, OutboxRecord
from tb_slowdown_plugin.writer.output.source_lines import SourceLines
from tb_slowdown_plugin.writer.output.tables import Edge, build_signals, build_steps
from tb_slowdown_plugin.writer.sampling.flush_schedule import STEPS_PER_CHUNK
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import Entry, Opening, Sample, is_cpu_known

_ANY_ROW: Final = 1 << 62
_T = TypeVar("_T")
_Noted = TypeVar("_Noted", Event, Sample)


class ChunkWriter:
    """Takes what was noted, whole steps at a time, and writes it as records in their order.

    Not thread-safe: who shares it, locks it.

    Args:
      recorder: What the training thread appends to; it is emptied.
      outbox: Where records go.
      session: Eight hex digits that no other session in the logdir has.
      describe: Makes the environment record from the states of the collectors.
      note: Is given the steps of each chunk; must not raise.
      report_failure: Is told the part that failed, and why.
    """

    def __init__(
        self,
        recorder: Recorder,
        outbox: Outbox,
        session: str,
        describe: Callable[[tuple[CollectorState, ...]], Environment],
        note: Callable[[StepTable], None],
        report_failure: Callable[[str, str], None],
    ) -> None:
        self._recorder = recorder
        self._outbox = outbox
        self._session = session
        self._describe = describe
        self._note = note
        self._report_failure = report_failure
        self._clock = recorder.clock
        self._source_lines = SourceLines(self._clock.unix_seconds())
        self._edge = Edge()
        self._unread: list[Entry] = []
        self._events: list[Event] = []
        self._samples: list[Sample] = []
        self._rows = 0
        self._described: Environment | None = None
        self._written: Environment | None = None
        self.records = 0
        """Made so far."""

    def collect(
        self, samples: list[Sample], states: tuple[CollectorState, ...], *, whole: bool
    ) -> None:
        """Makes records of all that was noted.

        Args:
          samples: Those of the collectors since the last time; the recorder's own are added.
          states: Of the collectors.
          whole: With steps whose CPU time is not known yet.
        """
        offset = self._clock.unix_seconds() - self._clock.monotonic_ns() / 1e9
        environment = self._changed_environment(states)
        entries = self._drain_entries(whole)
        samples = self._drain_samples(samples)
        events = self._drain_events()
        while len(entries) > STEPS_PER_CHUNK:
            size = _known(entries[:STEPS_PER_CHUNK]) or STEPS_PER_CHUNK
            part = entries[:size]
            del entries[:size]
            self._encode(part, [], [], offset)
            if self._outbox.is_full:
                self.write()
        if entries or samples or events or environment:
            self._encode(entries, samples, events, offset, environment)

    def write(self) -> None:
        """Writes the records that wait; those that can't be written wait on."""
        if not self._outbox.write():
            self._written = None  # a new file is to begin with the environment

    def _encode(
        self,
        entries: list[Entry],
        samples: list[Sample],
        events: list[Event],
        offset: float,
        environment: Environment | None = None,
    ) -> None:
        first_row = next((e[0] for e in entries if not isinstance(e, Opening)), self._rows)
        if first_row != self._rows:
            # How many in all, the reader knows: the rows of the chunks leave a gap.
            self._report_failure("recorder", "steps come faster than they can be written")
            self._rows = first_row
        steps, started = build_steps(entries, self._edge, offset)
        lines = self._source_lines.describe([each.what for each in events], steps.accounts)
        row, time = (events[-1].row, events[-1].time) if events else (first_row, started)
        events += [Event(row, time, line) for line in lines]
        chunk = Chunk(
            session=self._session,
            sequence=self.records,
            started=started,
            first_row=self._rows,
            steps=steps,
            signals=build_signals(samples),
            events=tuple(events),
            environment=environment,
        )
        tag = metadata.tag(self._session, self.records)
        now = self._clock.unix_seconds()
        self._outbox.put(OutboxRecord(encode(chunk), tag, self.records, now))
        self.records += 1
        self._rows += len(steps)
        self._note(steps)

    def _drain_entries(self, whole: bool) -> list[Entry]:
        """What was recorded; if not the whole, without steps whose CPU time is not known yet.

        A step that takes long does not hold them up: they are written at the second time.
        """
        fresh = _drain(self._recorder.entries)
        entries = self._unread + fresh
        size = _known(entries) if fresh and not whole else len(entries)
        self._unread = entries[size:]
        return entries[:size]

    def _drain_samples(self, fresh: list[Sample]) -> list[Sample]:
        noted = self._samples + fresh + _drain(self._recorder.samples)
        samples, self._samples = self._part(noted)
        return sorted(samples, key=attrgetter("time"))

    def _drain_events(self) -> list[Event]:
        events, self._events = self._part(self._events + _drain(self._recorder.events))
        return events

    def _part(self, noted: list[_Noted]) -> tuple[list[_Noted], list[_Noted]]:
        """What belongs to steps that are written, and what comes after steps that are kept."""
        end = self._unread[0][0] if self._unread else _ANY_ROW
        return [n for n in noted if n.row <= end], [n for n in noted if n.row > end]

    def _changed_environment(self, states: tuple[CollectorState, ...]) -> Environment | None:
        if self._described is None:
            try:
                self._described = self._describe(states)
            except Exception as error:  # noqa: BLE001, the training must not see it
                self._described = Environment()
                self._report_failure("environment", reason_of(error))
        environment = dataclasses.replace(self._described, collectors=states)
        if environment == self._written:
            return None
        self._written = environment
        return environment


def _known(entries: list[Entry]) -> int:
    """How many entries there are up to the last one after which the CPU time is known."""
    size = len(entries)
    while size and not is_cpu_known(entries[size - 1]):
        size -= 1
    return size


def _drain(queue: deque[_T]) -> list[_T]:
    return [queue.popleft() for _ in range(len(queue))]
