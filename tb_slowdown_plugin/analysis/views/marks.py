"""What happened once in the training thread and is drawn as a tick.

Retraces, collections, saves and captures, of the seconds that the accounts of the steps hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.timing_text import working_rows
from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph, in_training
from tb_slowdown_plugin.analysis.prepare.retrace_groups import find_retraces
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.records.types import Capture, Float, GcPause, Int, Run


def find_marks(run: Run, graphs: Sequence[TracedGraph]) -> Mapping[str, tuple[Int, Float]]:
    """Kind -> ascending rows, all of them rows of the run, and the seconds of each."""
    saved = np.zeros(len(run.steps))
    for name, seconds in run.steps.accounts.items():
        if names.family(name) == names.CHECKPOINT:
            saved += np.nan_to_num(seconds)
    saves = working_rows(saved)
    pauses = [
        (event.row, event.what)
        for event in run.events
        if isinstance(event.what, GcPause) and not event.what.elsewhere
    ]
    captures = [(event.row, event.what) for event in run.events if isinstance(event.what, Capture)]
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
