"""One session of a run (one process, from start to end), grown chunk by chunk."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import islice
from typing import Final

import numpy as np

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.reader.build.columns import (
    FoldingColumns,
    How,
)
from tb_slowdown_plugin.records.run import Gap
from tb_slowdown_plugin.records.types import (
    Chunk,
    Environment,
    Event,
    Float,
    Int,
    SignalTable,
    StepTable,
    no_signals,
    no_steps,
)

MAX_ROW: Final = 1 << 48
"""More steps than a process can make; a larger claim is hostile."""

_STEP_COLUMNS: Final[dict[str, How]] = {
    "number": "first",
    "period_seconds": "sum",
    "inside_seconds": "sum",
    "process_cpu_seconds": "sum",
    "thread_cpu_seconds": "sum",
    "ended": "last",
    "items": "sum",
    "kind": "first",
    "ran": "first",
    "calls": "sum",
    "argument_size": "sum",
}
"""Column -> what a row says of it that stands for several steps."""
_SIGNAL_COLUMNS: Final[dict[str, How]] = {"time": "last", "row": "last"}
_EARLY_SHARE: Final = 8
"""One of so many events that are kept is of the session's beginning: first traces, epochs."""


MOST_NAMES: Final = 256
"""Accounts, signals and kinds of a session that are told apart; an honest run has some 30. Each
takes a column as long as the run: a name that changes with each step would fill the memory."""
_OTHERS: Final = "others"


class OutOfOrder(Exception):
    """A chunk came after a later one of its session: read the session again, sorted."""


class SessionBuilder:
    """The chunks of one session, joined as they come; rows count from its first known step.

    A chunk's own rows count all steps of the session. Where chunks are missing, the
    steps after the gap move up, so that `row` always indexes the joined table.

    Args:
      session: Its name.
      width: Steps in a row of the joined table.
    """

    def __init__(self, session: str, width: int = 1) -> None:
        self.session = session
        self.started = float("nan")
        self.environment: Environment | None = None
        self.events: list[Event] = []
        self.dropped_events = 0
        self._kinds: list[str] = []
        self._account_names: set[str] = set()
        self._signal_names: set[str] = set()
        self._steps = FoldingColumns(_STEP_COLUMNS, "sum", np.nan)
        # The writer leaves out an account that is zero in every step of the chunk.
        self._accounts = FoldingColumns({}, "sum", 0.0)
        self._signals = FoldingColumns(_SIGNAL_COLUMNS, "highest", np.nan)
        self._steps.width = self._accounts.width = width
        self._joined = 0
        """Steps joined, one by one."""
        self._chunks = 0
        self._last_sequence = -1
        self._highest_known = -1
        self._first_rows: list[int] = []
        """Where the session's steps and the joined steps drift apart: the step at which
        each unbroken stretch begins, and (same index) its place among the joined ones."""
        self._joined_rows: list[int] = []

    @property
    def chunks(self) -> int:
        """Chunks joined."""
        return self._chunks

    @property
    def missing_chunks(self) -> int:
        """Chunks that must have been written, but are not here."""
        return self._highest_known + 1 - self._chunks

    def gaps(self, first: int) -> tuple[Gap, ...]:
        """Where steps are in no chunk, in a table in which this session begins at row `first`."""
        joined, own = self._joined_rows, self._first_rows
        return tuple(
            Gap(first + joined[i] // self._steps.width, missing)
            for i in range(1, len(own))
            if (missing := own[i] - own[i - 1] - (joined[i] - joined[i - 1])) > 0
        )

    @property
    def rows(self) -> int:
        """Rows of the joined table: steps, or groups of them."""
        return self._steps.rows

    @property
    def samples(self) -> int:
        """Rows of the table of signals."""
        return self._signals.rows

    @property
    def nbytes(self) -> int:
        """Bytes in arrays."""
        return self._steps.nbytes + self._accounts.nbytes + self._signals.nbytes

    def note_lost(self, sequence: int) -> None:
        """A record of this session is there but can't be read."""
        self._highest_known = max(self._highest_known, sequence)

    def append(self, chunk: Chunk, chunks: int = 1) -> None:
        """Join the next chunk.

        Args:
          chunk: The chunk.
          chunks: How many it was made of, each of which follows the one before.

        Raises:
          OutOfOrder: A later chunk is already joined.
        """
        if chunk.sequence <= self._last_sequence:
            raise OutOfOrder
        if not self._chunks:
            self.started = chunk.started
        self._open_stretch(chunk)
        first = self._joined
        self._append_steps(chunk.steps)
        self._append_signals(chunk.signals, first, chunk)
        self._append_events(chunk, first)
        self.environment = chunk.environment or self.environment
        self._chunks += chunks
        self._last_sequence = chunk.sequence + chunks - 1
        self._highest_known = max(self._highest_known, self._last_sequence)

    def widen(self, width: int) -> None:
        """From now on a row stands for `width` steps, a multiple of those it stands for now.

        Seconds, items and accounts are summed, so nothing that was measured is lost but
        the place of a second within its row.
        """
        factor = width // self._steps.width
        self._steps.widen(width)
        self._accounts.widen(width)
        self._signals.change("row", lambda row: row // factor)
        self.events = [Event(each.row // factor, each.time, each.what) for each in self.events]

    def thin_samples(self) -> None:
        """From now on a sample stands for twice as many: the highest of each signal."""
        self._signals.widen(2 * self._signals.width)

    def drop_events(self, most: int) -> None:
        """Keep the first events and the last, `most` in all; those between are counted only."""
        excess = len(self.events) - most
        if excess > 0:
            early = most // _EARLY_SHARE
            self.events = self.events[:early] + self.events[early + excess :]
            self.dropped_events += excess

    def steps(self, *, whole: bool = False) -> StepTable:
        """All steps so far, without a copy.

        Args:
          whole: With the steps that fill no row yet as a last one, at the cost of a copy.
        """
        columns = self._steps.views(whole=whole)
        if not columns or not len(columns["number"]):
            return no_steps()
        accounts = self._accounts.views(whole=whole)
        return StepTable(**columns, kinds=tuple(self._kinds), accounts=accounts)

    def signals(self) -> SignalTable:
        """All samples so far, without a copy."""
        if not self._signals.rows:
            return no_signals()
        values = self._signals.views()
        return SignalTable(time=values.pop("time"), row=values.pop("row"), values=values)

    def _open_stretch(self, chunk: Chunk) -> None:
        joined = self._joined
        unbroken = False
        if self._first_rows:
            expected = self._first_rows[-1] + joined - self._joined_rows[-1]
            unbroken = chunk.first_row == expected
        if not unbroken:
            self._first_rows.append(chunk.first_row)
            self._joined_rows.append(joined)

    def _append_steps(self, steps: StepTable) -> None:
        if not len(steps):
            return
        values = {name: getattr(steps, name) for name in _STEP_COLUMNS}
        if tuple(self._kinds[: len(steps.kinds)]) != steps.kinds:
            values["kind"] = self._translate(steps.kinds)[steps.kind]
        self._steps.append(len(steps), values)
        self._accounts.append(len(steps), self._known_accounts(steps.accounts))
        self._joined += len(steps)

    def _known_accounts(self, accounts: Mapping[str, Float]) -> Mapping[str, Float]:
        """Where there are too many accounts, the seconds of new ones go to one for them all."""
        new = accounts.keys() - self._account_names
        if len(self._account_names) + len(new) <= MOST_NAMES:
            self._account_names |= new
            return accounts
        known: dict[str, Float] = {}
        for name, seconds in accounts.items():
            if name not in self._account_names:
                if len(self._account_names) < MOST_NAMES:
                    self._account_names.add(name)
                else:
                    name = names.account(names.PHASE, _OTHERS)
            known[name] = known[name] + seconds if name in known else seconds
        return known

    def _translate(self, kinds: tuple[str, ...]) -> Int:
        new = (kind for kind in dict.fromkeys(kinds) if kind not in self._kinds)
        self._kinds.extend(islice(new, max(0, MOST_NAMES - len(self._kinds))))
        if any(kind not in self._kinds for kind in kinds) and _OTHERS not in self._kinds:
            self._kinds.append(_OTHERS)
        places = {kind: place for place, kind in enumerate(self._kinds)}
        others = places.get(_OTHERS, 0)
        return np.array([places.get(kind, others) for kind in kinds], np.int64)

    def _append_signals(self, signals: SignalTable, first: int, chunk: Chunk) -> None:
        if not len(signals):
            return
        row = self._place(signals.row, first, chunk)
        room = MOST_NAMES - len(self._signal_names)
        new = (name for name in signals.values if name not in self._signal_names)
        self._signal_names.update(list(islice(new, room)))
        told = {name: v for name, v in signals.values.items() if name in self._signal_names}
        values = {**told, "time": signals.time, "row": row}
        self._signals.append(len(signals), values)

    def _append_events(self, chunk: Chunk, first: int) -> None:
        rows = np.array([min(event.row, MAX_ROW) for event in chunk.events], np.int64)
        for event, row in zip(chunk.events, self._place(rows, first, chunk).tolist(), strict=True):
            self.events.append(event if row == event.row else Event(row, event.time, event.what))

    def _place(self, rows: Int, first: int, chunk: Chunk) -> Int:
        """Steps of the session, as this chunk counts them, to joined rows.

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
        return joined // self._steps.width
