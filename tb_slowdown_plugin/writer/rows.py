"""What the training thread appended, made into the tables of a chunk. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tb_slowdown_plugin.records.types import (
    Float,
    SignalTable,
    StepTable,
    no_signals,
    no_steps,
)
from tb_slowdown_plugin.writer.entries import Entry, Opening, Sample, StepRow


@dataclass(slots=True)
class Edge:
    """Where the period of the next step begins: clocks at the end of the one before."""

    at_ns: int = 0
    process_cpu_ns: int = 0
    thread_cpu_ns: int = 0

    def move(self, opening: Opening) -> None:
        """The next period begins at `opening` instead."""
        self.at_ns = opening.at_ns
        if opening.process_cpu_ns is not None:
            self.process_cpu_ns = opening.process_cpu_ns
        if opening.thread_cpu_ns is not None:
            self.thread_cpu_ns = opening.thread_cpu_ns


def build_steps(
    entries: Iterable[Entry], edge: Edge, unix_offset_seconds: float
) -> tuple[StepTable, float]:
    """The table of the steps in `entries`; moves `edge` to the end of the last one.

    Args:
      entries: What the recorder appended, oldest first.
      edge: Where the first period begins, unless an opening says otherwise.
      unix_offset_seconds: Unix time minus the monotonic clock.

    Returns:
      The table, and the Unix second at which the first period began.
    """
    rows: list[StepRow] = []
    begins: list[Edge] = []
    for entry in entries:
        if isinstance(entry, Opening):
            edge.move(entry)
            continue
        rows.append(entry)
        begins.append(Edge(edge.at_ns, edge.process_cpu_ns, edge.thread_cpu_ns))
        edge.at_ns, edge.process_cpu_ns, edge.thread_cpu_ns = entry[3:6]
    if not rows:
        return no_steps(), edge.at_ns / 1e9 + unix_offset_seconds
    _, numbers, begun, ended, process_cpu, thread_cpu, items, kinds, accounts = zip(
        *rows, strict=True
    )
    kind_index = {kind: index for index, kind in enumerate(dict.fromkeys(kinds))}
    ended_ns = np.array(ended, np.int64)
    periods_ns = ended_ns - np.array([begin.at_ns for begin in begins], np.int64)
    table = StepTable(
        number=np.array(numbers, np.int64),
        period_seconds=periods_ns / 1e9,
        inside_seconds=(ended_ns - np.array(begun, np.int64)) / 1e9,
        process_cpu_seconds=np.subtract(process_cpu, [b.process_cpu_ns for b in begins]) / 1e9,
        thread_cpu_seconds=np.subtract(thread_cpu, [b.thread_cpu_ns for b in begins]) / 1e9,
        ended=ended_ns / 1e9 + unix_offset_seconds,
        items=np.array([np.nan if n is None else n for n in items], np.float64),
        kind=np.array([kind_index[kind] for kind in kinds], np.int64),
        kinds=tuple(kind_index),
        accounts=_build_accounts(accounts),
    )
    return table, begins[0].at_ns / 1e9 + unix_offset_seconds


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
