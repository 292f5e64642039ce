"""The timeline of a run, reduced to the pixels of a view: extremes are kept.

Ticks (`find_marks`) are what happened once in the training thread: retraces, collections, saves,
and captures. Step times and accounts are as they were recorded; `healthy` and `lost` are the
analysis's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.timing_text import working_rows
from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph, in_training
from tb_slowdown_plugin.analysis.prepare.retrace_groups import find_retraces
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.analysis.text.coverage import missing_stretches
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.analysis.views.signal_lanes import most_values, signal_lanes
from tb_slowdown_plugin.analysis.views.timeline_columns import (
    DECIMALS,
    Columns,
    Unranged,
    reduce_rows,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Capture, Float, GcPause, Int, StepTable


def timeline(
    run: Run,
    account: RunAccount,
    first: int,
    last: int,
    buckets: int,
    columns: Columns | None = None,
    unranged: Unranged | None = None,
    signals: Any = None,
) -> dict[str, Any]:
    """The body of the route `timeline`, ready for JSON; `server/http_api.md` has its keys.

    Args:
        run: the run of which rows are asked.
        account: what `account_for(run)` said of it.
        first: first row of the view, 0 to `rows - 1`.
        last: last row of the view, inclusive; clipped to the run.
        buckets: how many groups of equally many rows at most, 1 or more.
        columns: the view reduced to buckets, where that is known: its rows are the view's.
        unranged: what does not depend on the view, where that is known.
        signals: what stands under that key, where it is known.

    Returns:
        plain dicts, lists, numbers and None (not measured); never NaN.

    Raises:
        ValueError: `first`, `last` or `buckets` is out of range.
    """
    steps = run.steps
    rows = len(steps)
    last = min(last, rows - 1)
    if rows and not 0 <= first <= last:
        msg = f"rows {first} to {last} asked of {rows}; first must be in 0 to last"
        raise ValueError(msg)
    if buckets < 1:
        msg = f"buckets is {buckets}; it must be at least 1"
        raise ValueError(msg)
    unranged = unranged or Unranged.of(run)
    if columns is None:
        width = max(1, -(-(last - first + 1) // buckets))
        columns = reduce_rows(run, account, first, last, width, unranged.accounts)
    first, last, width = columns.first, columns.last, columns.width
    if signals is None:
        signals = signal_lanes(run.signals, first, last, most_values(buckets, first, last, rows))
    epochs = [epoch for epoch in unranged.epochs if first <= epoch["row"] <= last]
    return {
        "run": run.name,
        "rows": rows,
        "steps_per_row": run.steps_per_row,
        "first": first,
        "last": last,
        "bucket_rows": width,
        **columns.body(),
        "healthy_step_seconds": account.report.healthy_step_seconds,
        "epochs": epochs[:: max(1, -(-len(epochs) // buckets))],
        "annotations": [
            asdict(note) for note in account.report.annotations if first <= note.row <= last
        ],
        "gaps": [gap for gap in missing_stretches(run, run.sessions) if first < gap["row"] <= last],
        "change_points": [
            {"row": row, "step": int(steps.number[row]), "text": text}
            for row, text in account.change_points
            if first <= row <= last
        ],
        "marks": {
            kind: _summed(marks, steps, first, last, width) for kind, marks in account.marks.items()
        },
        "signals": signals,
        "unmeasured": [
            {"signal": state.signal, "reason": state.reason}
            for state in account.report.signals
            if state.status not in ("measured", "partly")
        ],
    }


def _summed(
    marks: tuple[Int, Float], steps: StepTable, first: int, last: int, width: int
) -> list[dict[str, float]]:
    """One mark a bucket, at the row of its first one, with the count and seconds of all."""
    start, stop = np.searchsorted(marks[0], [first, last + 1])
    rows, seconds = marks[0][start:stop], marks[1][start:stop]
    if not len(rows):
        return []
    _, firsts = np.unique((rows - first) // width, return_index=True)
    sums = np.round(np.add.reduceat(seconds, firsts), DECIMALS)
    counts = np.diff(np.append(firsts, len(rows)))
    kept = rows[firsts]
    columns = kept.tolist(), steps.number[kept].tolist(), counts.tolist(), sums.tolist()
    return [
        {"row": row, "step": step, "count": count, "seconds": total}
        for row, step, count, total in zip(*columns, strict=True)
    ]


def find_marks(run: Run, graphs: Sequence[TracedGraph]) -> Mapping[str, tuple[Int, Float]]:
    """Kind -> ascending rows, all of them rows of the run, and the seconds of each."""
    saved = np.zeros(len(run.steps))
    for name, seconds in run.steps.accounts.items():
        if names.family(name) == names.CHECKPOINT:
            saved += zero_where_unknown(seconds)
    saves = working_rows(saved)
    pauses = [(row, pause) for row, pause in run.all_of(GcPause) if not pause.elsewhere]
    captures = run.all_of(Capture)
    size = len(run.steps)
    return {
        "retraces": _columns(
            ((each.row, each.cost_seconds) for each in find_retraces(in_training(graphs))), size
        ),
        "gc": _columns(((row, pause.seconds) for row, pause in pauses), size),
        "checkpoints": (saves, saved[saves]),
        "captures": _columns(((row, 0.0) for row, each in captures if each.running), size),
    }


def _columns(marks: Iterable[tuple[int, float]], size: int) -> tuple[Int, Float]:
    """Rows and seconds as columns; what came after the last step has no row to stand in."""
    kept = sorted(mark for mark in marks if mark[0] < size)
    rows = np.array([row for row, _ in kept], np.int64)
    return rows, np.array([seconds for _, seconds in kept], np.float64)
