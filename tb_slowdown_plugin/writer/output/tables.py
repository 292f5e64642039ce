"""What the training thread appended, made into the tables of a chunk. Pure.

Beside a training the caches are its own: there each of numpy's calls takes several
microseconds for 256 rows, so they are few, and none is made for a step or for a signal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.catalog.names import INPUT_WAIT
from tb_slowdown_plugin.records.types import (
    Float,
    Int,
    SignalTable,
    StepTable,
    no_signals,
    no_steps,
)
from tb_slowdown_plugin.writer.steps.step_buffer import Entry, Opening, Sample, StepRow


@dataclass(slots=True)
class Edge:
    """Where the period of the next step begins, and the last reading of the CPU clocks."""

    at_ns: int = 0
    process_cpu_ns: int = 0
    thread_cpu_ns: int = 0
    unread_ns: int = 0
    """Periods since that reading, of steps in earlier tables."""


class _Reading(NamedTuple):
    """The clocks of CPU time, read when `rows` steps of the table had ended."""

    rows: int
    process_cpu_ns: int
    thread_cpu_ns: int
    begins_anew: bool
    """What they took before it is of no step: the training was begun here."""


def build_steps(
    entries: Iterable[Entry], edge: Edge, unix_offset_seconds: float
) -> tuple[StepTable, float]:
    """The table of the steps in `entries`; moves `edge` to the end of the last one.

    The clocks of CPU time are read seldom: what they took between two readings is spread
    over the steps between in proportion to their periods. It is NaN for steps after the
    last reading.

    Args:
      entries: What the recorder appended, oldest first.
      edge: Where the first period begins, unless an opening says otherwise.
      unix_offset_seconds: Unix time minus the monotonic clock.

    Returns:
      The table, and the Unix second at which the first period began.
    """
    rows: list[StepRow] = []
    openings: list[tuple[int, Opening]] = []
    for entry in entries:
        if isinstance(entry, Opening):
            openings.append((len(rows), entry))
        else:
            rows.append(entry)
    if not rows:
        for _, opening in openings:
            edge.at_ns = opening.at_ns
        _spread_cpu(_find_readings(openings, (), ()), np.empty(0, np.int64), edge)
        return no_steps(), edge.at_ns / 1e9 + unix_offset_seconds
    _, numbers, begun, ended, process, thread, items, kinds, accounts, ran, calls, sizes = zip(
        *rows, strict=True
    )
    bounds_ns = np.array((edge.at_ns, *ended), np.int64)
    begins_ns, ended_ns = bounds_ns[:-1].copy(), bounds_ns[1:]
    edge.at_ns = ended[-1]
    for place, opening in openings:
        if place < len(rows):
            begins_ns[place] = opening.at_ns
        else:
            edge.at_ns = opening.at_ns
    periods_ns = ended_ns - begins_ns
    cpu_seconds = _spread_cpu(_find_readings(openings, process, thread), periods_ns, edge)
    kind_index = {kind: index for index, kind in enumerate(dict.fromkeys(kinds))}
    table = StepTable(
        number=np.array(numbers, np.int64),
        period_seconds=periods_ns / 1e9,
        inside_seconds=(ended_ns - np.array(begun, np.int64)) / 1e9,
        process_cpu_seconds=cpu_seconds[0],
        thread_cpu_seconds=cpu_seconds[1],
        ended=ended_ns / 1e9 + unix_offset_seconds,
        items=np.array(items, np.float64),  # None becomes NaN
        kind=np.array([kind_index[kind] for kind in kinds], np.int64),
        kinds=tuple(kind_index),
        accounts=_build_accounts(accounts),
        ran=np.array(ran, np.int64),
        calls=np.array(calls, np.int64),
        argument_size=np.array(sizes, np.int64),
    )
    return table, float(begins_ns[0] / 1e9 + unix_offset_seconds)


def _find_readings(
    openings: Iterable[tuple[int, Opening]],
    process: Sequence[int | None],
    thread: Sequence[int | None],
) -> list[_Reading]:
    """In the order in which the clocks were read."""
    readings = [
        _Reading(place + 1, process_ns, thread_ns, begins_anew=False)
        for place, (process_ns, thread_ns) in enumerate(zip(process, thread, strict=True))
        if process_ns is not None and thread_ns is not None
    ]
    anew = [
        _Reading(place, opening.process_cpu_ns, opening.thread_cpu_ns, begins_anew=True)
        for place, opening in openings
        if opening.process_cpu_ns is not None and opening.thread_cpu_ns is not None
    ]
    # The step that ended there was appended before the opening.
    return sorted(readings + anew, key=itemgetter(0, 3)) if anew else readings


def _spread_cpu(readings: Sequence[_Reading], periods_ns: Int, edge: Edge) -> Float:
    """(2, S) CPU seconds of the process and of the training thread in each step."""
    spread = np.full((2, len(periods_ns)), np.nan)
    if not readings:
        edge.unread_ns += int(periods_ns.sum())
        return spread
    ends, process_ns, thread_ns, anew = zip(*readings, strict=True)
    known = ends[-1]
    passed_ns = np.concatenate(([0], np.cumsum(periods_ns)))
    totals_ns = np.diff(passed_ns[[0, *ends]])
    totals_ns[0] += edge.unread_ns
    steps = np.diff((0, *ends))
    total_ns = np.repeat(totals_ns, steps)
    share = np.divide(
        periods_ns[:known], total_ns, out=1 / np.repeat(steps, steps), where=total_ns > 0
    )
    for row, clock_ns in enumerate(
        ((edge.process_cpu_ns, *process_ns), (edge.thread_cpu_ns, *thread_ns))
    ):
        took_ns = np.where(anew, np.nan, np.diff(np.array(clock_ns, np.int64)))
        spread[row, :known] = np.repeat(took_ns, steps) * share
    edge.process_cpu_ns, edge.thread_cpu_ns = process_ns[-1], thread_ns[-1]
    edge.unread_ns = int(periods_ns[known:].sum())
    return spread / 1e9


def build_signals(samples: Sequence[Sample]) -> SignalTable:
    """The table of the samples; NaN where a signal was not read."""
    if not samples:
        return no_signals()
    names = dict.fromkeys(name for sample in samples for name in sample.values)
    columns = [[sample.values.get(name, np.nan) for sample in samples] for name in names]
    return SignalTable(
        time=np.array([sample.time for sample in samples], np.float64),
        row=np.array([sample.row for sample in samples], np.int64),
        values=dict(zip(names, np.array(columns, np.float64), strict=True)),
    )


def _build_accounts(booked: Sequence[Mapping[str, int] | int | None]) -> dict[str, Float]:
    columns: dict[str, list[int]] = {}
    for place, accounts in enumerate(booked):
        if accounts:
            named = {INPUT_WAIT: accounts} if isinstance(accounts, int) else accounts
            for name, nanoseconds in named.items():
                if name not in columns:
                    columns[name] = [0] * len(booked)
                columns[name][place] = nanoseconds
    return {name: np.array(column, np.float64) / 1e9 for name, column in columns.items()}
