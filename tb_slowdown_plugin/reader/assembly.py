"""Records, as they come, into one run: workers, their sessions, their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.reader.join import join
from tb_slowdown_plugin.reader.record import Record, session_of
from tb_slowdown_plugin.reader.strand import MAX_ROW, OutOfOrder, Strand
from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.records.metadata import run_name
from tb_slowdown_plugin.records.types import Chunk, Run


class Assembly:
    """One run, as the user knows it, growing out of records.

    Each record is decoded once and never kept: the memory in use is that of the
    joined columns. Not thread-safe; who shares it, locks it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._workers: dict[int, dict[str, Strand]] = {}
        self._known: dict[int, set[tuple[str, int]]] = {}
        self._problems: dict[str, int] = {}
        self._run: Run | None = None

    def __bool__(self) -> bool:
        return bool(self._workers)

    @property
    def nbytes(self) -> int:
        """Bytes in arrays."""
        return sum(
            strand.nbytes for strands in self._workers.values() for strand in strands.values()
        )

    def add(self, records: Iterable[Record]) -> None:
        """Join records; those already known are passed over.

        A record that can't be read counts as a missing chunk of its session, and is
        named in the run's notes.

        Raises:
          OutOfOrder: A record that was missing has come after all. Start a new
            assembly and add everything to it, each session in ascending sequence.
        """
        for record in records:
            _, worker = run_name(record.tensorboard_run)
            known = self._known.setdefault(worker, set())
            session = session_of(record.tag)
            if session is not None and (session, record.sequence) in known:
                continue
            strands = self._workers.setdefault(worker, {})
            try:
                chunk = _decode(record)
            except DecodeError as error:
                self._problems[str(error)] = self._problems.get(str(error), 0) + 1
                if session is not None:
                    known.add((session, record.sequence))
                    strands.setdefault(session, Strand(session)).note_lost(record.sequence)
                self._run = None
                continue
            key = (chunk.session, chunk.sequence)
            if key in known:
                continue
            strands.setdefault(chunk.session, Strand(chunk.session)).append(chunk)
            known.add(key)
            self._run = None

    def run(self) -> Run:
        """The run so far: the same object until something is added. There must be something."""
        if self._run is None:
            workers = [
                join(
                    self.name if index == min(self._workers) else f"{self.name}/worker-{index}",
                    list(strands.values()),
                )
                for index, strands in sorted(self._workers.items())
            ]
            self._run = replace(workers[0], workers=tuple(workers[1:]), notes=self._notes())
        return self._run

    def _notes(self) -> tuple[str, ...]:
        return tuple(
            f"{count} {'record' if count == 1 else 'records'} can't be read: {problem}"
            for problem, count in self._problems.items()
        )


def assemble(name: str, records: Callable[[], Iterable[Record]]) -> Run | None:
    """A run out of all its records, None if they are none.

    Args:
      name: The run as the user knows it.
      records: Reads them; called again if the first reading was not in order.
    """
    assembly = Assembly(name)
    try:
        assembly.add(records())
    except OutOfOrder:
        assembly = Assembly(name)
        assembly.add(sorted(records(), key=lambda record: record.sequence))
    return assembly.run() if assembly else None


def _decode(record: Record) -> Chunk:
    chunk = decode(record.payload)
    if max(chunk.first_row, chunk.sequence) > MAX_ROW:
        raise DecodeError("record claims more steps than a process can make")
    return chunk
