"""The first steps, or the first epoch, take longer than later ones.

TensorFlow traces functions, optimizes graphs, creates variables and optimizer slots, fills caches
and shuffle buffers, and reads files for the first time. What has no account (variables, kernels,
memory) counts as the remainder.

How it looks: Slow steps at the start of the run, then a stable level. If it is the only loss and at
least a fifth of the run, the verdict is `slow_start`.

Confused with:

- `retracing`: The initial trace of a function is warm-up, also late in the run. Each later trace is
  a retrace, with a row in the Retraces panel that names what changed.
- `input_pipeline`: A wait for the first batch, or in the first epoch only, is warm-up. A wait that
  returns in later epochs is input wait.
- Healthy, one more trace: A smaller last batch, a shape that TensorFlow relaxes, or `compile()` for
  a new stage of training costs one trace each, whenever it comes. It counts as warm-up.

Also what each mechanism took, in order of time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import CORE, Case, Claim, lost_seconds, span
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.trend_tests import counted_per_second
from tb_slowdown_plugin.analysis.causes.startup import warm_up_fixes
from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph, in_training
from tb_slowdown_plugin.analysis.prepare.retrace_groups import is_keras, quoted
from tb_slowdown_plugin.analysis.prepare.settled_functions import (
    is_compiled_again,
    is_larger,
    is_of_new_model,
    is_remainder,
)
from tb_slowdown_plugin.analysis.report_types.causes import Advice, CausePart
from tb_slowdown_plugin.analysis.text.wording import counted, duration, listed, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import account_title
from tb_slowdown_plugin.catalog.events import UNROLLED_ROUNDS
from tb_slowdown_plugin.catalog.parameters.causes import MANY_OPERATIONS
from tb_slowdown_plugin.catalog.parameters.ledger import FLAT_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import (
    FAR_BEYOND,
    LEAST_READING,
    MAJORITY,
    MATTERS,
    NEARLY_ALL,
)
from tb_slowdown_plugin.catalog.signals import READ
from tb_slowdown_plugin.records.types import Epoch, Float

_TRACES = (names.TRACING, names.FIRST_EXECUTION)

_MOST_NAMED = 3

_NAMES = {
    names.TRACING: "initial tracing",
    names.FIRST_EXECUTION: "first execution",
    names.INPUT_WAIT: "input wait",
    CORE: "untimed startup work: variables, kernels, memory",
}

FIRST_BATCH: Final = names.account(names.INPUT_WAIT, names.FIRST)

_ORDER: Final = (FIRST_BATCH, names.TRACING, names.FIRST_EXECUTION)
"""Within a step one waits first, then builds the graph, then runs it."""

_WORDS: Final = {
    FIRST_BATCH: ("First batch (filling buffers)", "measured"),
    names.INPUT_WAIT: ("First epoch (cold reads)", "measured, above later epochs"),
    names.TRACING: ("Initial tracing", "measured"),
    names.FIRST_EXECUTION: ("First execution", "first run less a later one"),
    CORE: ("Other startup work (variables, kernels, memory)", "remainder, not split"),
}

_LEAST_SECONDS: Final = 1e-6
"""Steps are recorded to the microsecond."""


def explain(case: Case) -> Claim | None:
    """Claims what is warm-up by pattern, and first traces wherever they are."""
    claimed = tuple(finding for finding in case.findings if _is_warm_up(finding))
    if not claimed:
        return None
    parts = _parts(claimed)
    first = [graph for graph in in_training(case.graphs) if not graph.again]
    seconds = lost_seconds(claimed)
    first_row, last_row = span(claimed)
    models = _count_models(first)
    until = _until(case, claimed, first_row, last_row, of_each=models > 1)
    largest_part = max(parts, key=lambda part: parts[part])
    of_each = f" of each of {models} models" if models > 1 else ""
    summary = (
        f"The first steps{of_each} took {duration(seconds)} longer than baseline steps, {until}. "
        f"Biggest part: {_NAMES.get(largest_part, largest_part.replace('_', ' '))}."
    )
    return Claim(
        "warm_up",
        claimed,
        "warm-up",
        summary,
        tuple(_evidence(case, first, parts, seconds)),
        _advice(case, claimed, parts, first),
        "high",
        "warm_up",
        parts_of(case, claimed),
    )


def _until(
    case: Case, claimed: tuple[Finding, ...], first_row: int, last_row: int, *, of_each: bool
) -> str:
    """Through which step; where little of it comes much later, through which step most of it."""
    if last_row == first_row:
        return f"in {case.step_text(first_row)}"
    lost = np.cumsum(np.sum([finding.lost_per_step for finding in claimed], axis=0))
    most_by = int(np.searchsorted(lost, NEARLY_ALL * lost[-1]))
    if of_each or FAR_BEYOND * (most_by - first_row + 1) > last_row - first_row:
        return f"through {case.step_text(last_row)}"
    return f"nine tenths of it through {case.step_text(most_by)}"


def _count_models(first: Iterable[TracedGraph]) -> int:
    """How many were trained, by their training steps that were built for a new one."""
    made = Counter(
        quoted(graph.trace)
        for graph in first
        if graph.settled and is_of_new_model(graph.trace) and not graph.trace.depth
    )
    return 1 + max(made.values(), default=0)


def _is_warm_up(finding: Finding) -> bool:
    family, detail = names.family(finding.source), names.detail(finding.source)
    if family in _TRACES:
        return detail == names.FIRST or (finding.pattern == "warm_up" and detail == names.LIBRARY)
    return finding.pattern == "warm_up"


def _parts(claimed: Iterable[Finding]) -> dict[str, float]:
    parts: dict[str, float] = {}
    for finding in claimed:
        family = names.family(finding.source)
        parts[family] = parts.get(family, 0.0) + finding.lost_seconds
    return parts


def _evidence(
    case: Case, first: list[TracedGraph], parts: dict[str, float], seconds: float
) -> Iterable[str]:
    passes = {row for row, _ in case.run.all_of(Epoch)}
    later = "later epochs" if len(passes) > 1 else "later steps"
    for part, lost in sorted(parts.items(), key=lambda item: -item[1]):
        share = f"{duration(lost)} ({percent(lost / seconds)} of the warm-up)"
        if part == names.TRACING:
            yield f"{share} was initial tracing{_largest(first)}."
        elif part == names.FIRST_EXECUTION:
            yield from _first_runs(first, share)
        elif part == names.INPUT_WAIT:
            yield (
                f"{share} was input wait beyond that of {later}: cold files, a cache, or a "
                "shuffle buffer that fills."
            )
        elif part == CORE:
            yield f"{share} wasn't timed by itself: variables, kernel selection, memory."
        else:
            yield f"{share} was {_NAMES.get(part, part.replace('_', ' '))}."
    twice = sorted({quoted(g.trace) for g in first if g.trace.cause == "variables"})
    if twice:
        verb = "was" if len(twice) == 1 else "were"
        text = f"{listed(twice)} {verb} traced twice, because the first call creates variables."
        yield text[0].upper() + text[1:]
    yield from _settled(first)


def _settled(graphs: list[TracedGraph]) -> Iterable[str]:
    """Retraces that were paid once: a new stage, a smaller last batch, a shape that was relaxed."""
    settled = [graph for graph in graphs if graph.settled and graph.trace.changes]
    compiled = [g for g in settled if is_compiled_again(g.trace) and not g.trace.depth]
    for function, times in Counter(quoted(graph.trace) for graph in compiled).items():
        often = "once" if times == 1 else counted(times, "time")
        text = f"{function} was rebuilt {often}, because `compile()` ran again."
        yield text[0].upper() + text[1:]
    made = [g for g in settled if is_of_new_model(g.trace) and not g.trace.depth]
    for function, times in Counter(quoted(graph.trace) for graph in made).items():
        often = "once" if times == 1 else counted(times, "time")
        text = f"{function} was rebuilt {often}, for a new model each time."
        yield text[0].upper() + text[1:]
    shapes = [graph for graph in settled if graph.trace.cause != "new_object"]
    for graph in shapes[:_MOST_NAMED]:
        change = graph.trace.changes[0]
        larger = "for a larger input" if is_larger(graph.trace) else "with a relaxed shape"
        why = "for a smaller batch" if is_remainder(graph.trace) else larger
        text = f"{quoted(graph.trace)} was retraced once {why}: `{change.argument}` from "
        text += f"{change.before} to {change.after}."
        yield text[0].upper() + text[1:]


def _largest(graphs: list[TracedGraph]) -> str:
    if not graphs:
        return ""
    most = max(graphs, key=lambda graph: graph.trace.operations)
    functions = f" of {counted(len({g.trace.function for g in graphs}), 'function')}"
    if not most.trace.operations:
        return functions  # their number was not recorded
    place = f" ({most.trace.location})" if most.trace.location else ""
    return (
        f"{functions}; the largest has "
        f"{counted(most.trace.operations, 'operation')}, {quoted(most.trace)}{place}"
    )


def _first_runs(graphs: list[TracedGraph], share: str) -> Iterable[str]:
    compiled = any(graph.trace.jit_compile for graph in graphs)
    what = "XLA compilation, " if compiled else ""
    unknown = sum(g.first_seconds > 0 and g.steady_from == "nothing" for g in graphs)
    rest = (
        f" {counted(unknown, 'graph')} ran only once: the whole first execution is counted."
        if unknown
        else ""
    )
    yield (
        f"{share} was the first execution of new graphs, beyond a later one: "
        f"{what}graph optimization, kernel selection.{rest}"
    )


def _advice(
    case: Case, claimed: tuple[Finding, ...], parts: dict[str, float], graphs: list[TracedGraph]
) -> tuple[Advice, ...]:
    seconds = sum(parts.values())
    built = parts.get(names.TRACING, 0.0) + parts.get(names.FIRST_EXECUTION, 0.0)
    big = [graph for graph in graphs if graph.trace.operations >= MANY_OPERATIONS]
    are_first_runs = parts.get(names.FIRST_EXECUTION, 0.0) >= MAJORITY * seconds
    compiled = [graph for graph in graphs if graph.trace.jit_compile]
    start = warm_up_fixes.SlowStart(
        Program.of(case.run),
        long=case.wall_share(seconds) >= FLAT_FLOOR,
        builds=built >= MATTERS * seconds,
        many_operations=bool(big) and not _has_row_of_rounds(case),
        by_keras=all(is_keras(graph.trace) for graph in big),
        variables=any(g.trace.cause == "variables" and not is_keras(g.trace) for g in graphs),
        first_runs=are_first_runs and not compiled,
        compiled_by_keras=are_first_runs and any(is_keras(graph.trace) for graph in compiled),
        models=_count_models(graphs),
    )
    if parts.get(names.INPUT_WAIT, 0.0) >= MATTERS * seconds:
        start = _with_first_pass(case, claimed, start)
    return warm_up_fixes.advise(start)


def _has_row_of_rounds(case: Case) -> bool:
    """Whether a row of its own tells the loop that makes the graph big, and what to do."""
    return bool(case.of(names.LOOPS)) and bool(case.run.facts(UNROLLED_ROUNDS))


def _with_first_pass(
    case: Case, claimed: tuple[Finding, ...], start: warm_up_fixes.SlowStart
) -> warm_up_fixes.SlowStart:
    waits = tuple(f for f in claimed if names.family(f.source) == names.INPUT_WAIT)
    lost = np.sum([finding.lost_per_step for finding in waits], axis=0)
    fills = float(lost.max()) >= MAJORITY * float(lost.sum())
    reading = counted_per_second(case, READ, *span(waits))
    reads = None if reading is None else reading >= LEAST_READING
    return replace(start, waits=True, fills=fills, reads=reads)


def parts_of(case: Case, claimed: Iterable[Finding]) -> tuple[CausePart, ...]:
    """Splits the seconds of a warm-up by mechanism.

    The wait for the run's very first batch stands apart from that for the rest of the first
    pass: shuffle and prefetch buffers fill in the one, files are cold in the other.

    Args:
      case: The run.
      claimed: The findings that are warm-up.
    """
    lost: dict[str, Float] = defaultdict(lambda: np.zeros(len(case.run.steps)))
    for finding in claimed:
        family = names.family(finding.source)
        if family == names.INPUT_WAIT:
            lost[FIRST_BATCH][:1] += finding.lost_per_step[:1]
            lost[family][1:] += finding.lost_per_step[1:]
        else:
            lost[family] += finding.lost_per_step
    parts = [_part(case, name, seconds) for name, seconds in lost.items()]
    return tuple(sorted((part for part in parts if part is not None), key=_place))


def _part(case: Case, name: str, lost: Float) -> CausePart | None:
    rows = np.flatnonzero(lost)
    seconds = float(lost.sum())
    if seconds < _LEAST_SECONDS:
        return None
    title, known = _WORDS.get(name, (account_title(name), "measured"))
    steps = case.steps((int(rows[0]), int(rows[-1])))
    return CausePart(name, title, seconds, steps, known)


def _place(part: CausePart) -> tuple[int, int]:
    order = _ORDER.index(part.part) if part.part in _ORDER else len(_ORDER)
    return part.steps[0], order
