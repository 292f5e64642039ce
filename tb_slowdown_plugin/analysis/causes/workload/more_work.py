"""More work in a step is no loss: larger batches, or a step that was built anew and does more.

Batches count where they are larger by about as much as steps are slower.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.prepare.function_traces import in_training
from tb_slowdown_plugin.analysis.prepare.retrace_groups import Retrace, find_retraces, label
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import count, duration, percent, times
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import NEW_SHAPE, SHAPE
from tb_slowdown_plugin.catalog.parameters.causes import MOST_REBUILT
from tb_slowdown_plugin.catalog.parameters.shared import LARGER, MOSTLY, NEGLIGIBLE, SERIES
from tb_slowdown_plugin.catalog.parameters.stats import SHORTEST_PIECE
from tb_slowdown_plugin.records.types import Float, Int, Trace

MOST_TOLD: Final = 64
"""New shapes that a run tells by name (collectors/batch_shapes)."""

_MAX_DISTANCE_ROWS: Final = 2
"""Rows between the trace and the jump that it explains."""


@dataclass(frozen=True, slots=True)
class _BatchSizes:
    """The batches of a run, by their shapes that none had before."""

    rows: Int
    """(N,) where each came first, ascending."""
    sizes: Float
    """(N,) numbers in such a batch, for each item where the engine knows the items."""
    known_rows: int
    """Rows of which anything is known: after the last shape that is told there may be others."""

    def at(self, first: int, end: int) -> Float:
        """(end - first,) sizes: a shape stands until the next new one."""
        rows = np.arange(first, end)
        return self.sizes[np.clip(np.searchsorted(self.rows, rows, side="right") - 1, 0, None)]


def split_larger(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(more work, the rest) of the findings, before any rule is asked.

    Sequences that get longer by plan make steps compute more: neither work in Python that piles
    up nor shapes that are new takes that time.

    Args:
      case: with all findings of the engine.
    """
    found = [finding for finding in case.core() if finding.pattern in ("level_shift", "drift")]
    batches = _batches(case) if found else None
    if batches is None:
        return (), case.findings
    return case.part(finding for finding in found if _is_more_work(case, finding, batches))


def tell_larger(case: Case, larger: tuple[Finding, ...]) -> Iterable[str]:
    """That the steps do more, and how much."""
    batches = _batches(case) if larger else None
    for finding in larger if batches is not None else ():
        assert batches is not None
        growth, slower = _compare(case, finding, batches)
        yield (
            f"In {case.steps_text(finding.rows)} batches are {times(growth)} as large as "
            f"elsewhere, and steps take {times(slower)} as long: "
            f"{duration(finding.lost_seconds)}, {percent(case.wall_share(finding.lost_seconds))} "
            "of the run. This is workload and isn't counted as lost."
        )


def elements(shapes: str) -> float:
    """How many numbers a batch of these shapes has.

    >>> elements("(32, 10), (32,)")
    352.0
    """
    total = 0.0
    for dimensions in SHAPE.findall(shapes):
        total += float(np.prod([int(each) for each in dimensions.split(",") if each.strip()]))
    return total


def _batches(case: Case) -> _BatchSizes | None:
    told: dict[int, float] = {}
    # The smaller one of a row is what an epoch left over.
    for row, fact in case.run.facts(NEW_SHAPE):
        told[row] = max(told.get(row, 0.0), elements(fact.subject))
    if len(told) < 2:
        return None
    rows = np.array(sorted(told), np.int64)
    sizes = np.array([told[int(row)] for row in rows])
    steps = len(case.run.steps)
    items = case.run.steps.items[np.clip(rows, 0, steps - 1)]
    if np.all(items > 0):
        sizes = sizes / items  # the engine has compared steps of as many items already
    return _BatchSizes(rows, sizes, int(rows[-1]) + 1 if len(told) >= MOST_TOLD else steps)


def _is_more_work(case: Case, finding: Finding, batches: _BatchSizes) -> bool:
    if not _comes_with(case, finding, batches):
        return False
    larger, slower = _compare(case, finding, batches)
    return larger > 1 and larger - 1 >= MOSTLY * (slower - 1)


def _comes_with(case: Case, finding: Finding, batches: _BatchSizes) -> bool:
    """Whether new shapes come where the steps get slower, and not just at some time."""
    first, last = finding.rows
    if finding.pattern == "level_shift":
        near = max(_MAX_DISTANCE_ROWS, SHORTEST_PIECE * len(case.run.steps))
        return bool(np.min(np.abs(batches.rows - first)) <= near)
    last = min(last, batches.known_rows - 1)
    inside = (batches.rows >= first) & (batches.rows <= last)
    late = batches.rows[inside] > (first + last) / 2
    if inside.sum() < SERIES:
        return _lies_in_larger(case, finding, batches)
    return bool(late.any() and grows(batches.sizes[inside]))


def _lies_in_larger(case: Case, finding: Finding, batches: _BatchSizes) -> bool:
    """Whether a growth is that of a few stages, each with larger batches than the one before."""
    start, end = case.diagnosis.warm_up_rows, min(finding.rows[1] + 1, batches.known_rows)
    sizes, lost = batches.at(start, end), finding.lost_per_step[start:end]
    if not len(sizes) or np.any(np.diff(sizes) < 0):
        return False
    larger = sizes >= LARGER * sizes[0]
    period = case.run.steps.period_seconds[start:end]
    if any(grows(period[sizes == size]) for size in np.unique(sizes[larger])):
        return False  # within a stage, too
    return bool(lost[larger].sum() >= MOSTLY * lost.sum() > 0)


def _compare(case: Case, finding: Finding, batches: _BatchSizes) -> tuple[float, float]:
    """How many times as large its batches are as those elsewhere, and as long its steps take.

    The steps by this finding alone, whatever else they waited for.
    """
    first, end = finding.rows[0], min(finding.rows[1] + 1, batches.known_rows)
    start = min(case.diagnosis.warm_up_rows, first)
    inside = batches.at(first, end)
    elsewhere = np.concatenate([batches.at(start, first), batches.at(end, batches.known_rows)])
    fewest = max(1, int(NEGLIGIBLE * batches.known_rows))
    base = float(np.mean(elsewhere if len(elsewhere) >= fewest else inside[:fewest]))
    healthy = float(case.diagnosis.healthy_per_step[first:end].sum())
    if not len(inside) or not base > 0 or not healthy > 0:
        return 1.0, float("inf")
    lost = float(finding.lost_per_step[first:end].sum())
    return float(np.mean(inside)) / base, 1 + lost / healthy


@dataclass(frozen=True, slots=True)
class _Rebuilt:
    """A function that was made anew with a larger graph."""

    retrace: Retrace
    before: int
    """Of the largest graph that it had."""
    now: int
    unit: str
    """What both count."""


def split_rebuilt(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(more work, the rest) of the findings, before any rule is asked.

    A base that is no longer frozen is trained as well: `compile()` was called for that.

    Args:
      case: with all findings of the engine.
    """
    rebuilt = _find_rebuilt(case)
    return case.part(each for each in case.core() if _reason_of(case, each, rebuilt) is not None)


def tell_rebuilt(case: Case, more: tuple[Finding, ...]) -> Iterable[str]:
    """Which step it was, and how much larger."""
    rebuilt = _find_rebuilt(case) if more else []
    for finding in more:
        reason = _reason_of(case, finding, rebuilt)
        if reason is not None:
            yield (
                f"At {case.step_text(reason.retrace.row)}, {label(reason.retrace.trace)} was "
                f"rebuilt with {count(reason.now)} {reason.unit} instead of "
                f"{count(reason.before)}. The extra time ({duration(finding.lost_seconds)}, "
                f"{percent(case.wall_share(finding.lost_seconds))} of the run) is workload and "
                "isn't counted as lost."
            )


def _reason_of(case: Case, finding: Finding, rebuilt: list[_Rebuilt]) -> _Rebuilt | None:
    first, last = finding.rows
    if finding.pattern == "level_shift":
        near = (each for each in rebuilt if abs(each.retrace.row - first) <= _MAX_DISTANCE_ROWS)
        return next(near, None)
    # Stairs may look like a growth, of which each stage has none.
    inside = [each for each in rebuilt if first < each.retrace.row <= last]
    if finding.pattern != "drift" or not inside:
        return None
    stages = np.split(
        case.run.steps.period_seconds[first : last + 1],
        [each.retrace.row - first for each in inside],
    )
    return None if any(grows(each) for each in stages) else inside[0]


def _find_rebuilt(case: Case) -> list[_Rebuilt]:
    """Without functions that are larger each time."""
    if not any(finding.pattern in ("level_shift", "drift") for finding in case.core()):
        return []
    graphs = [
        replace(graph, detail=names.AGAIN) if graph.settled else graph
        for graph in in_training(case.graphs)
    ]
    largest: dict[str, tuple[int, ...]] = {}
    seen = 0
    found = []
    for retrace in find_retraces(graphs):
        while case.graphs[seen].row < retrace.row:
            trace = case.graphs[seen].trace
            known = largest.get(trace.function, (0,) * len(_SIZES))
            largest[trace.function] = tuple(map(max, known, _sizes_of(trace)))
            seen += 1
        before = largest.get(retrace.trace.function, (0,) * len(_SIZES))
        now = map(max, *(_sizes_of(graph.trace) for graph in retrace.graphs), (0,) * len(_SIZES))
        larger = (
            _Rebuilt(retrace, was, size, unit)
            for was, size, unit in zip(before, now, _SIZES, strict=True)
            if retrace.trace.cause == "new_object" and size >= LARGER * was > 0
        )
        found += list(larger)[:1]
    often = Counter(each.retrace.trace.function for each in found)
    return [each for each in found if often[each.retrace.trace.function] <= MOST_REBUILT]


_SIZES: Final = ("operations", "numbers in variables")
"""What says how large a graph is."""


def _sizes_of(trace: Trace) -> tuple[int, ...]:
    return trace.operations, trace.variable_elements
