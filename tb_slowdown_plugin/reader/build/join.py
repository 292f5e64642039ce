"""The sessions of one worker, joined end to end into one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from tb_slowdown_plugin.catalog.events import MONITOR_STOPPED
from tb_slowdown_plugin.reader.build.session_builder import SessionBuilder
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import (
    Environment,
    Event,
    Fact,
    Float,
    SignalTable,
    StepTable,
    no_signals,
    no_steps,
)


def join(name: str, builders: Sequence[SessionBuilder]) -> Run:
    """The run of one worker: its sessions by their start, with rows that count through.

    One session costs no copy: the run's arrays are read-only views of the builder's.
    An event of a session after its last step belongs to that step once another session
    follows, so that a new process is not charged with the end of the old one.
    """
    # A session of which nothing could be read has no start: it stands last.
    ordered = sorted(builders, key=lambda builder: (np.isnan(builder.started), builder.started))
    # Only the last row of a session that goes on can wait for its other steps.
    tables = [builder.steps(whole=len(builders) > 1 or not builder.rows) for builder in ordered]
    firsts = np.cumsum([0, *(len(table) for table in tables)]).tolist()
    environments = [builder.environment for builder in ordered if builder.environment is not None]
    return Run(
        name=name,
        steps=_join_steps(tables),
        signals=_join_signals([builder.signals() for builder in ordered], firsts),
        events=_join_events(ordered, firsts),
        environment=environments[-1] if environments else Environment(),
        sessions=tuple(
            Session(
                builder.session,
                first,
                builder.started,
                builder.chunks,
                builder.missing_chunks,
                builder.gaps(first),
            )
            for builder, first in zip(ordered, firsts, strict=False)
        ),
        is_ended=bool(ordered) and is_stopped(ordered[-1].events),
    )


def is_stopped(of_session: Iterable[Event]) -> bool:
    """Whether events of a session say that its monitor was stopped."""
    return any(
        isinstance(event.what, Fact) and event.what.name == MONITOR_STOPPED for event in of_session
    )


def _join_steps(tables: list[StepTable]) -> StepTable:
    tables = [table for table in tables if len(table)]
    if len(tables) < 2:
        return tables[0] if tables else no_steps()
    kinds = tuple(dict.fromkeys(kind for table in tables for kind in table.kinds))
    columns = {
        field.name: np.concatenate([getattr(table, field.name) for table in tables])
        for field in fields(StepTable)
        if field.name not in ("kind", "kinds", "accounts")
    }
    columns["kind"] = np.concatenate(
        [np.array([kinds.index(kind) for kind in table.kinds])[table.kind] for table in tables]
    )
    accounts = _join_columns([(len(table), table.accounts) for table in tables], absent=0.0)
    return StepTable(**columns, kinds=kinds, accounts=accounts)


def _join_signals(tables: list[SignalTable], firsts: list[int]) -> SignalTable:
    placed = [(table, first) for table, first in zip(tables, firsts, strict=False) if len(table)]
    if not placed:
        return no_signals()
    if len(placed) == 1 and not placed[0][1]:
        return placed[0][0]
    return SignalTable(
        time=np.concatenate([table.time for table, _ in placed]),
        row=np.concatenate([table.row + first for table, first in placed]),
        values=_join_columns([(len(table), table.values) for table, _ in placed], absent=np.nan),
    )


def _join_columns(parts: list[tuple[int, Mapping[str, Float]]], absent: float) -> dict[str, Float]:
    names = dict.fromkeys(name for _, columns in parts for name in columns)
    return {
        name: np.concatenate(
            [columns[name] if name in columns else np.full(rows, absent) for rows, columns in parts]
        )
        for name in names
    }


def _join_events(ordered: list[SessionBuilder], firsts: list[int]) -> tuple[Event, ...]:
    if len(ordered) == 1:
        return tuple(ordered[0].events)
    joined: list[Event] = []
    for index, builder in enumerate(ordered):
        first = firsts[index]
        rows = firsts[index + 1] - first
        is_last = index == len(ordered) - 1
        last_row = max(rows if is_last else rows - 1, 0)
        for event in builder.events:
            row = first + min(event.row, last_row)
            joined.append(event if row == event.row else replace(event, row=row))
    return tuple(joined)
