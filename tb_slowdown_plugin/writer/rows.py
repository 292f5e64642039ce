"""What the training thread appended, made into the tables of a chunk. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.records.types import (
    Float,
    Int,
    SignalTable,
    StepTable,
    no_signals,
    no_steps,
)
from tb_slowdown_plugin.writer.entries import Entry, Opening, Sample, StepRow


@dataclass(slots=True)
class Edge:
    """Where the period of the next step begins, and the last reading of the CPU clocks."""

    at_ns: int = 0
    process_cpu_ns: int = 0
    thread_cpu_ns: int = 0
    unread_ns: int = 0
    """Periods since that reading, of steps in earlier tables."""


class _Stretch(NamedTuple):
    """The steps between two readings of the CPU clocks, and what these took meanwhile."""

    begin: int
    end: int
    process_ns: int
    thread_ns: int
    unread_ns: int
    """Periods of the steps before `begin` that belong to it as well."""


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
    begins_ns: list[int] = []
    stretches: list[_Stretch] = []
    unread = 0
    for entry in entries:
        if isinstance(entry, Opening):
            edge.at_ns = entry.at_ns
            process_ns, thread_ns = entry.process_cpu_ns, entry.thread_cpu_ns
        else:
            rows.append(entry)
            begins_ns.append(edge.at_ns)
            edge.at_ns, process_ns, thread_ns = entry[3:6]
        if process_ns is None or thread_ns is None:
            continue
        if not isinstance(entry, Opening):
            process, thread = process_ns - edge.process_cpu_ns, thread_ns - edge.thread_cpu_ns
            stretches.append(_Stretch(unread, len(rows), process, thread, edge.unread_ns))
        edge.process_cpu_ns, edge.thread_cpu_ns, edge.unread_ns = process_ns, thread_ns, 0
        unread = len(rows)
    if not rows:
        return no_steps(), edge.at_ns / 1e9 + unix_offset_seconds
    _, numbers, begun, ended, _, _, items, kinds, accounts = zip(*rows, strict=True)
    kind_index = {kind: index for index, kind in enumerate(dict.fromkeys(kinds))}
    ended_ns = np.array(ended, np.int64)
    periods_ns = ended_ns - np.array(begins_ns, np.int64)
    edge.unread_ns += int(periods_ns[unread:].sum())
    process_cpu_ns, thread_cpu_ns = _spread(stretches, periods_ns)
    table = StepTable(
        number=np.array(numbers, np.int64),
        period_seconds=periods_ns / 1e9,
        inside_seconds=(ended_ns - np.array(begun, np.int64)) / 1e9,
        process_cpu_seconds=process_cpu_ns / 1e9,
        thread_cpu_seconds=thread_cpu_ns / 1e9,
        ended=ended_ns / 1e9 + unix_offset_seconds,
        items=np.array([np.nan if n is None else n for n in items], np.float64),
        kind=np.array([kind_index[kind] for kind in kinds], np.int64),
        kinds=tuple(kind_index),
        accounts=_build_accounts(accounts),
    )
    return table, begins_ns[0] / 1e9 + unix_offset_seconds


def _spread(stretches: Sequence[_Stretch], periods_ns: Int) -> tuple[Float, Float]:
    """CPU time of the process and of the training thread in each step, in nanoseconds."""
    spread = np.full((2, len(periods_ns)), np.nan)
    for begin, end, process_ns, thread_ns, unread_ns in stretches:
        inside_ns = periods_ns[begin:end]
        total_ns = unread_ns + int(inside_ns.sum())
        share = inside_ns / total_ns if total_ns else np.full(end - begin, 1 / (end - begin))
        spread[:, begin:end] = np.outer((process_ns, thread_ns), share)
    return spread[0], spread[1]


def build_signals(samples: Sequence[Sample]) -> SignalTable:
    """The table of the samples; NaN where a signal was not read."""
    if not samples:
        return no_signals()
    names = dict.fromkeys(name for sample in samples for name in sample.values)
    return SignalTable(
        time=np.array([sample.time for sample in samples], np.float64),
        row=np.array([sample.row for sample in samples], np.int64),
        values={
            name: np.array([sample.values.get(name, np.nan) for sample in samples], np.float64)
            for name in names
        },
    )


def _build_accounts(booked: Sequence[Mapping[str, int] | None]) -> dict[str, Float]:
    names = dict.fromkeys(name for accounts in booked if accounts for name in accounts)
    return {
        name: np.array([a.get(name, 0) if a else 0 for a in booked], np.float64) / 1e9
        for name in names
    }
