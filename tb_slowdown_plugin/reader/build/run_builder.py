"""Records, as they come, into one run: workers, their sessions, their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.reader.build.join import join
from tb_slowdown_plugin.reader.build.record_batch import (
    Record,
    RecordBatch,
    Sequences,
    Waiting,
    session_of,
)
from tb_slowdown_plugin.reader.build.session_builder import (
    MAX_ROW,
    MOST_NAMES,
    OutOfOrder,
    SessionBuilder,
)
from tb_slowdown_plugin.records.decoding import (
    Opened,
    decode_together,
    open_record,
)
from tb_slowdown_plugin.records.metadata import run_name, worker_run
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Chunk

_MOST_PROBLEMS: Final = 20
"""Different ones that are told of a run; a stranger's records could have any number."""
_OTHER: Final = "other reasons"
MOST_BYTES: Final = 4 * 10**9
"""Of the columns of one run; 10,000,000 steps with 20 accounts take 2.3 GB."""
_LARGE_ROWS: Final = 4096
_LOOK_EVERY: Final = 64
_MOST_ROW_BYTES: Final = 8 * (8 + MOST_NAMES)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of a run is kept one by one; what is beyond is summed up, never left out."""

    rows: int
    """Rows of steps, of all workers together. If there are more, each of them stands for
    twice as many steps."""
    samples: int
    """The same for the samples of signals."""
    events: int
    """Events. If there are more, those in the middle of the run are only counted; their
    seconds stand in the accounts."""


BOUNDS: Final = Bounds(rows=1 << 21, samples=1 << 18, events=1 << 17)
"""What is kept of any run, by the tab and by the commands alike: about 250 MB of steps, 42 MB of
samples of 20 signals, 50 MB of events. At 10 ms a step these are the steps of 6 hours."""


class RunBuilder:
    """One run, as the user knows it, growing out of records.

    Each record is decoded once and never kept: the memory in use is that of the
    joined columns. Not thread-safe; who shares it, locks it.

    Args:
      name: The run as the user knows it.
      bounds: None to keep all one by one.
    """

    def __init__(self, name: str, bounds: Bounds | None = None) -> None:
        self.name = name
        self._bounds = bounds
        self._width = 1
        self._since_check = 0
        self._room = 0
        """Rows, samples and events together that can come before a bound could be passed."""
        self._workers: dict[int, dict[str, SessionBuilder]] = {}
        self._known: dict[tuple[int, str], Sequences] = {}
        self._problems: dict[str, int] = {}
        self._run: Run | None = None

    def __bool__(self) -> bool:
        return bool(self._workers)

    @property
    def nbytes(self) -> int:
        """Bytes in arrays."""
        return sum(builder.nbytes for builder in self._session_builders())

    @property
    def rows(self) -> int:
        """Rows of steps that are kept, of all workers."""
        return sum(builder.rows for builder in self._session_builders())

    @property
    def records(self) -> int:
        """How many records came, those that can't be read among them."""
        return sum(len(known) for known in self._known.values())

    def add(self, records: Iterable[Record]) -> None:
        """Join records; those already known are passed over.

        A record that can't be read counts as a missing chunk of its session, and is
        named in the run's notes.

        Raises:
          OutOfOrder: A record that was missing has come after all. Start a new
            builder and add everything to it, each session in ascending sequence.
        """
        batch = RecordBatch()
        for record in records:
            _, worker = run_name(record.tensorboard_run)
            session = session_of(record.tag)
            if not batch.may_go_on(worker, session, record.sequence):
                self._join(batch)
            if session is not None and record.sequence in self._known_of(worker, session):
                continue
            try:
                opened = _open(record)
            except DecodeError as error:
                self._join(batch)
                self._lose(worker, session, record.sequence, error)
                continue
            waiting = Waiting(worker, session, record.sequence, opened)
            if not batch.takes(waiting):
                self._join(batch)
                batch.takes(waiting)
        self._join(batch)

    def run(self) -> Run:
        """The run so far: the same object until something is added. There must be something."""
        if self._run is None:
            workers = [
                join(
                    self.name if index == min(self._workers) else worker_run(self.name, index),
                    list(builders.values()),
                )
                for index, builders in sorted(self._workers.items())
            ]
            self._run = replace(
                workers[0],
                workers=tuple(workers[1:]),
                notes=tuple(self._notes()),
                steps_per_row=self._width,
            )
        return self._run

    def _join(self, batch: RecordBatch) -> None:
        waiting = batch.hand_over()
        if len(waiting) > 1:
            try:
                self._append(waiting)
            except DecodeError:
                pass  # one by one shows which it is, and keeps the others
            else:
                return
        for one in waiting:
            self._append_alone(one)

    def _append_alone(self, one: Waiting) -> None:
        try:
            self._append([one])
        except DecodeError as error:
            self._lose(one.worker, one.session, one.sequence, error)

    def _append(self, waiting: list[Waiting]) -> None:
        chunk = decode_together([one.opened for one in waiting])
        self._refuse_bulk(chunk)
        worker = waiting[0].worker
        known = self._known_of(worker, chunk.session)
        sequences = range(chunk.sequence, chunk.sequence + len(waiting))
        if any(sequence in known for sequence in sequences):
            if len(waiting) > 1:
                raise DecodeError("a record of several is known")
            return
        self._session_builder(worker, chunk.session).append(chunk, len(waiting))
        for sequence in sequences:
            known.add(sequence)
        self._run = None
        if self._bounds is not None:
            self._since_check += len(chunk.steps) + len(chunk.signals) + len(chunk.events)
            if self._since_check > self._room:
                self._keep_within(self._bounds)

    def _lose(self, worker: int, session: str | None, sequence: int, error: DecodeError) -> None:
        self._note(str(error))
        if session is not None:
            self._known_of(worker, session).add(sequence)
            self._session_builder(worker, session).note_lost(sequence)
        else:
            self._workers.setdefault(worker, {})
        self._run = None

    def _session_builders(self) -> Iterator[SessionBuilder]:
        return (builder for builders in self._workers.values() for builder in builders.values())

    def _session_builder(self, worker: int, session: str) -> SessionBuilder:
        builders = self._workers.setdefault(worker, {})
        return builders.setdefault(session, SessionBuilder(session, self._width))

    def _known_of(self, worker: int, session: str) -> Sequences:
        return self._known.setdefault((worker, session), Sequences())

    def _keep_within(self, bounds: Bounds) -> None:
        builders = list(self._session_builders())
        while self.rows > bounds.rows:
            self._width *= 2
            for builder in builders:
                builder.widen(self._width)
        if sum(builder.samples for builder in builders) > bounds.samples:
            for builder in builders:
                builder.thin_samples()
        if sum(len(builder.events) for builder in builders) > bounds.events:
            for builder in builders:
                builder.drop_events(len(builder.events) // 2)
        self._since_check = 0
        self._room = min(
            bounds.rows - self.rows,
            bounds.samples - sum(builder.samples for builder in builders),
            bounds.events - sum(len(builder.events) for builder in builders),
        )

    def _refuse_bulk(self, chunk: Chunk) -> None:
        """A record of a hundred bytes may hold a hundred thousand steps, all alike."""
        rows = len(chunk.steps) + len(chunk.signals)
        looks = rows > _LARGE_ROWS or chunk.sequence % _LOOK_EVERY == 0
        if looks and self.nbytes + rows * _MOST_ROW_BYTES > MOST_BYTES:
            raise DecodeError(f"the run takes more than {MOST_BYTES / 1e9:.0f} GB of memory")

    def _note(self, problem: str) -> None:
        if problem not in self._problems and len(self._problems) >= _MOST_PROBLEMS:
            problem = _OTHER
        self._problems[problem] = self._problems.get(problem, 0) + 1

    def _notes(self) -> Iterator[str]:
        if self._width > 1:
            yield (
                f"The run is too long to be kept step by step: each step shown is "
                f"{self._width} of its steps in a row. Sums are of all steps."
            )
        dropped = sum(builder.dropped_events for builder in self._session_builders())
        if dropped:
            yield (
                f"{dropped:,} events in the middle of the run (retraces, pauses) are not listed "
                "one by one; their seconds are in the sums."
            )
        for problem, count in self._problems.items():
            yield f"{count} {'record' if count == 1 else 'records'} can't be read: {problem}"


def assemble(
    name: str, records: Callable[[], Iterable[Record]], *, bounds: Bounds | None = None
) -> Run | None:
    """A run out of all its records, None if they are none.

    Args:
      name: The run as the user knows it.
      records: Reads them; called again if the first reading was not in order.
      bounds: How much is kept one by one; None for all.
    """
    builder = RunBuilder(name, bounds)
    try:
        builder.add(records())
    except OutOfOrder:
        builder = RunBuilder(name, bounds)
        builder.add(sorted(records(), key=lambda record: record.sequence))
    return builder.run() if builder else None


def _open(record: Record) -> Opened:
    opened = open_record(record.payload)
    if max(opened.first_row, opened.sequence) > MAX_ROW:
        raise DecodeError("record claims more steps than a process can make")
    return opened
