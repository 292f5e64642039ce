"""A step that was built anew and does more than before: another step, and no loss."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.prepare.function_traces import in_training
from tb_slowdown_plugin.analysis.prepare.retrace_groups import (
    Retrace,
    find_retraces,
    label,
)
from tb_slowdown_plugin.analysis.text.wording import count, duration, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names

_LARGER: Final = 1.1
"""Operations of the graph over those before, from which the step does more."""
_MOST_REBUILT: Final = 2
"""So often a plan builds a larger step, such as layers that are trained from some epoch on; what
is larger each time grows with the run."""
_NEAR: Final = 2
"""Rows between the trace and the jump that it explains."""


@dataclass(frozen=True, slots=True)
class _Rebuilt:
    """A function that was made anew with a larger graph."""

    retrace: Retrace
    before: int
    """Operations of the largest graph that it had."""
    operations: int


def split_rebuilt(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(more work, the rest) of the findings, before any rule is asked.

    A base that is no longer frozen is trained as well: `compile()` was called for that.

    Args:
      case: with all findings of the engine.
    """
    rebuilt = _find_rebuilt(case)
    more = tuple(each for each in case.core() if _reason_of(each, rebuilt) is not None)
    ids = {id(finding) for finding in more}
    return more, tuple(finding for finding in case.findings if id(finding) not in ids)


def tell_rebuilt(case: Case, more: tuple[Finding, ...]) -> Iterable[str]:
    """Which step it was, and how much larger."""
    rebuilt = _find_rebuilt(case) if more else []
    for finding in more:
        reason = _reason_of(finding, rebuilt)
        if reason is not None:
            yield (
                f"From {case.step_text(reason.retrace.row)} on {label(reason.retrace.trace)} is "
                f"another one: it was built anew with {count(reason.operations)} operations, "
                f"{count(reason.before)} before. That it takes longer, "
                f"{duration(finding.lost_seconds)} in all, "
                f"{percent(case.wall_share(finding.lost_seconds))} of the run, is more work, and "
                "no loss."
            )


def _reason_of(finding: Finding, rebuilt: list[_Rebuilt]) -> _Rebuilt | None:
    if finding.pattern != "level_shift":
        return None
    near = (each for each in rebuilt if abs(each.retrace.row - finding.rows[0]) <= _NEAR)
    return next(near, None)


def _find_rebuilt(case: Case) -> list[_Rebuilt]:
    """None where it is larger each time."""
    if not any(finding.pattern == "level_shift" for finding in case.core()):
        return []
    graphs = [
        replace(graph, detail=names.AGAIN) if graph.settled else graph
        for graph in in_training(case.graphs)
    ]
    largest: dict[str, int] = {}
    seen = 0
    found = []
    for retrace in find_retraces(graphs):
        while graphs[seen].row < retrace.row:
            trace = graphs[seen].trace
            largest[trace.function] = max(largest.get(trace.function, 0), trace.operations)
            seen += 1
        before = largest.get(retrace.trace.function, 0)
        operations = max(graph.trace.operations for graph in retrace.graphs)
        if retrace.trace.cause == "new_object" and operations >= _LARGER * before > 0:
            found.append(_Rebuilt(retrace, before, operations))
    return found if len(found) <= _MOST_REBUILT else []
