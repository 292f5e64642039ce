"""One session of a run (one process, from start to end), grown chunk by chunk."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.reader.columns import GrowingColumns
from tb_slowdown_plugin.records.types import (
    Chunk,
    Environment,
    Event,
    Int,
    SignalTable,
    StepTable,
    no_signals,
    no_steps,
)

MAX_ROW: Final = 1 << 48
"""More steps than a process can make; a larger claim is hostile."""

_STEP_COLUMNS: Final = (
    "number",
    "period_seconds",
    "inside_seconds",
    "process_cpu_seconds",
    "thread_cpu_seconds",
    "ended",
    "items",
    "kind",
)


class OutOfOrder(Exception):
    """A chunk came after a later one of its session: read the session again, sorted."""


class Strand:
    """The chunks of one session, joined as they come; rows count from its first known step.

    A chunk's own rows count all steps of the session. Where chunks are missing, the
    steps after the gap move up, so that `row` always indexes the joined table.
    """

    def __init__(self, session: str) -> None:
        self.session = session
        self.started = float("nan")
        self.environment: Environment | None = None
        self.events: list[Event] = []
        self._kinds: list[str] = []
        self._steps = GrowingColumns()
        self._accounts = GrowingColumns()
        self._signals = GrowingColumns()
        self._chunks = 0
        self._last_sequence = -1
        self._highest_known = -1
        self._first_rows: list[int] = []
        """Where the session's rows and the joined rows drift apart: session row at which
        each unbroken stretch begins, and (same index) its joined row."""
        self._joined_rows: list[int] = []

    @property
    def chunks(self) -> int:
        """Chunks joined."""
        return self._chunks

    @property
    def missing_chunks(self) -> int:
        """Chunks that must have been written, but are not here."""
        return self._highest_known + 1 - self._chunks

    @property
    def rows(self) -> int:
        """Steps joined."""
        return self._steps.rows

    @property
    def nbytes(self) -> int:
        """Bytes in arrays."""
        return self._steps.nbytes + self._accounts.nbytes + self._signals.nbytes

    def note_lost(self, sequence: int) -> None:
        """A record of this session is there but can't be read."""
        self._highest_known = max(self._highest_known, sequence)

    def append(self, chunk: Chunk) -> None:
        """Join the next chunk.

        Raises:
          OutOfOrder: A later chunk is already joined.
        """
        if chunk.sequence <= self._last_sequence:
            raise OutOfOrder
        if not self._chunks:
            self.started = chunk.started
        self._open_stretch(chunk)
        first = self._steps.rows
        self._append_steps(chunk.steps)
        self._append_signals(chunk.signals, first, chunk)
        self._append_events(chunk, first)
        self.environment = chunk.environment or self.environment
        self._chunks += 1
        self._last_sequence = chunk.sequence
        self._highest_known = max(self._highest_known, chunk.sequence)

    def steps(self) -> StepTable:
        """All steps so far, without a copy."""
        if not self._steps.rows:
            return no_steps()
        return StepTable(
            **self._steps.views(), kinds=tuple(self._kinds), accounts=self._accounts.views()
        )

    def signals(self) -> SignalTable:
        """All samples so far, without a copy."""
        if not self._signals.rows:
            return no_signals()
        values = self._signals.views()
        return SignalTable(time=values.pop("time"), row=values.pop("row"), values=values)

    def _open_stretch(self, chunk: Chunk) -> None:
        joined = self._steps.rows
        if not self._first_rows:
            unbroken = False
        else:
            unbroken = chunk.first_row - self._first_rows[-1] == joined - self._joined_rows[-1]
        if not unbroken:
            self._first_rows.append(chunk.first_row)
            self._joined_rows.append(joined)

    def _append_steps(self, steps: StepTable) -> None:
        if not len(steps):
            return
        values = {name: getattr(steps, name) for name in _STEP_COLUMNS}
        if tuple(self._kinds[: len(steps.kinds)]) != steps.kinds:
            values["kind"] = self._translate(steps.kinds)[steps.kind]
        self._steps.append(len(steps), values, np.nan)
        # The writer leaves out an account that is zero in every step of the chunk.
        self._accounts.append(len(steps), steps.accounts, 0.0)

    def _translate(self, kinds: tuple[str, ...]) -> Int:
        self._kinds.extend(kind for kind in kinds if kind not in self._kinds)
        return np.array([self._kinds.index(kind) for kind in kinds], np.int64)

    def _append_signals(self, signals: SignalTable, first: int, chunk: Chunk) -> None:
        if not len(signals):
            return
        row = self._place(signals.row, first, chunk)
        values = {**signals.values, "time": signals.time, "row": row}
        self._signals.append(len(signals), values, np.nan)

    def _append_events(self, chunk: Chunk, first: int) -> None:
        rows = np.array([min(event.row, MAX_ROW) for event in chunk.events], np.int64)
        for event, row in zip(chunk.events, self._place(rows, first, chunk).tolist(), strict=True):
            self.events.append(event if row == event.row else replace(event, row=row))

    def _place(self, rows: Int, first: int, chunk: Chunk) -> Int:
        """Session rows, as this chunk has them, to joined rows.

        Rows of the chunk itself are what is usual. An earlier one (it was emitted late)
        goes where its step is, or to the first step after the gap in which it was lost.
        """
        end = chunk.first_row + len(chunk.steps)
        joined = np.clip(rows, chunk.first_row, end) - chunk.first_row + first
        for index in np.flatnonzero(rows < chunk.first_row):
            stretch = bisect_right(self._first_rows, int(rows[index])) - 1
            if stretch < 0:
                joined[index] = 0
                continue
            limit = (
                self._joined_rows[stretch + 1] if stretch + 1 < len(self._joined_rows) else first
            )
            within = int(rows[index]) - self._first_rows[stretch]
            joined[index] = min(self._joined_rows[stretch] + within, limit)
        return joined
