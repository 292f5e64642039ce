"""The retraces table: one row per function, place, cause and differing argument."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.compile.retrace_fixes import short_fix
from tb_slowdown_plugin.analysis.prepare.function_traces import (
    TracedGraph,
    in_training,
    traced_graphs,
)
from tb_slowdown_plugin.analysis.prepare.retrace_groups import Retrace, find_retraces
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.records.run import Run

COLLECTOR: Final = "tracing"
"""The collector that reports traces."""
_EXAMPLES: Final = 20
_PARTS: Final = 40


def retraces(run: Run) -> dict[str, Any]:
    """The body of the route `retraces`, ready for JSON; `server/http_api.md` has its keys."""
    graphs = traced_graphs(run)
    again = find_retraces(in_training(graphs))
    return {
        "status": _status(run),
        "watched": len(
            {
                (graph.trace.function, graph.trace.location)
                for graph in graphs
                if graph.detail != names.LIBRARY
            }
        ),
        "seconds": _rounded(sum(retrace.cost_seconds for retrace in again)),
        "traces": len(again),
        "groups": _groups(run, again),
        "library": _groups(run, _repeated_in_libraries(graphs)),
    }


def _repeated_in_libraries(graphs: Iterable[TracedGraph]) -> Iterator[Retrace]:
    """Traces of functions of tf.data and Keras after the first of each that cost training time."""
    seen = set()
    for graph in in_training(graphs):
        if graph.detail != names.LIBRARY:
            continue
        code = (graph.trace.function, graph.trace.location)
        if code in seen:
            yield Retrace(graph, (graph,))
        seen.add(code)


def _groups(run: Run, again: Iterable[Retrace]) -> list[dict[str, Any]]:
    grouped: dict[tuple[str, ...], list[Retrace]] = defaultdict(list)
    for retrace in again:
        grouped[group_of(retrace)].append(retrace)
    groups = [_group(run, key, members) for key, members in grouped.items()]
    return sorted(groups, key=lambda group: -group["seconds"])


def group_of(retrace: Retrace) -> tuple[str, str, str, str, str]:
    """Function, place, cause, differing argument, and in what it differs."""
    trace = retrace.trace
    change = trace.changes[0] if trace.changes else None
    return (
        trace.function,
        trace.location,
        trace.cause,
        change.argument if change else "",
        change.what if change else "",
    )


def _status(run: Run) -> dict[str, str]:
    for state in run.environment.collectors:
        if state.name == COLLECTOR:
            status = "measured" if state.status == "running" else state.status
            return {"status": status, "reason": state.reason}
    return {"status": "unavailable", "reason": "the run has no record of this collector"}


def _group(run: Run, key: tuple[str, ...], members: Sequence[Retrace]) -> dict[str, Any]:
    function, location, cause, argument, what = key
    rows = np.array([retrace.row for retrace in members])
    costs = np.array([retrace.cost_seconds for retrace in members])
    parts = np.minimum(rows * _PARTS // max(1, len(run.steps)), _PARTS - 1)
    half = _EXAMPLES // 2
    shown = [*members[:half], *members[half:][-half:]]
    return {
        "function": function,
        "location": location,
        "cause": cause,
        "argument": argument,
        "what": what,
        "count": len(members),
        "seconds": _rounded(float(costs.sum())),
        "first_step": _step(run, int(rows.min())),
        "last_step": _step(run, int(rows.max())),
        "fix": short_fix(members[0].trace),
        "jit_compile": any(retrace.trace.jit_compile for retrace in members),
        "examples": [_example(run, retrace) for retrace in shown],
        "spark": [
            _rounded(value) for value in np.bincount(parts, costs, minlength=_PARTS).tolist()
        ],
    }


def _example(run: Run, retrace: Retrace) -> dict[str, Any]:
    trace = retrace.trace
    return {
        "row": retrace.row,
        "step": _step(run, retrace.row),
        "seconds": _rounded(retrace.cost_seconds),
        "building_seconds": _rounded(retrace.building_seconds),
        "execution_seconds": _rounded(retrace.excess_seconds),
        "operations": trace.operations,
        "changes": [
            {
                "argument": change.argument,
                "what": change.what,
                "before": change.before,
                "after": change.after,
            }
            for change in trace.changes
        ],
    }


def _step(run: Run, row: int) -> int | None:
    """The step number of a row; the last step's for what came after it."""
    number = run.steps.number
    return int(number[min(row, len(number) - 1)]) if len(number) else None


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
