"""A `tf.function` is traced again, or made again."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from tb_slowdown_plugin.analysis.advice import retracing as advice
from tb_slowdown_plugin.analysis.rules.case import Case, Claim, lost_seconds, span
from tb_slowdown_plugin.analysis.rules.patterns import cadence, growth
from tb_slowdown_plugin.analysis.traces import TracedGraph, in_training
from tb_slowdown_plugin.analysis.types import Advice, Finding
from tb_slowdown_plugin.analysis.wording import counted, duration, ledger_seconds, size
from tb_slowdown_plugin.records import names
from tb_slowdown_plugin.records.types import Trace

_LONG_FLOAT = re.compile(r"-?\d+\.\d{6,}(?:e[-+]?\d+)?")
_GROWS = 1.3
"""Last quarter of the traces against the first: less is within the noise of a trace."""


def explain(case: Case) -> Claim | None:
    """Claims every second of tracing and of first executions that is not warm-up."""
    claimed = tuple(
        finding
        for finding in case.findings
        if names.family(finding.source) in (names.TRACING, names.FIRST_EXECUTION)
    )
    if not claimed:
        return None
    seconds = lost_seconds(claimed)
    graphs = [graph for graph in in_training(case.graphs) if graph.again]
    if not graphs:
        return _library(case, claimed, seconds)
    groups = _by_code(graphs)
    main = groups[0]
    trace = typical(main)
    return Claim(
        "retracing",
        claimed,
        f"retracing of {label(trace)}{_place(trace)}",
        _summary(main, trace, span(claimed)),
        tuple(_evidence(case, claimed, groups)),
        _advice(groups),
        "high",
    )


def label(trace: Trace) -> str:
    """How a traced function is called: a Keras step has no name of the user's."""
    return f"the {trace.function}" if advice.is_keras(trace) else trace.function


def typical(graphs: Sequence[TracedGraph]) -> Trace:
    """A trace whose cause and changes are the most frequent of its group."""
    reasons: dict[tuple[str, ...], list[TracedGraph]] = defaultdict(list)
    for graph in graphs:
        changed = tuple(f"{c.argument} {c.what}" for c in graph.trace.changes)
        reason = (graph.trace.cause, *changed)
        reasons[reason].append(graph)
    return max(reasons.values(), key=len)[-1].trace


def _by_code(graphs: Iterable[TracedGraph]) -> list[list[TracedGraph]]:
    groups: dict[tuple[str, str], list[TracedGraph]] = defaultdict(list)
    for graph in graphs:
        groups[graph.trace.function, graph.trace.location].append(graph)
    return sorted(groups.values(), key=_cost, reverse=True)


def _cost(graphs: Sequence[TracedGraph]) -> float:
    return sum(graph.cost_seconds for graph in graphs)


def _place(trace: Trace) -> str:
    return f" ({trace.location})" if trace.location else ""


def quoted(trace: Trace) -> str:
    """The same in a sentence, with the user's names marked as code."""
    return label(trace) if advice.is_keras(trace) else f"`{trace.function}`"


def _summary(graphs: Sequence[TracedGraph], trace: Trace, rows: tuple[int, int]) -> str:
    often = cadence([graph.row for graph in graphs], rows[1] - rows[0] + 1)
    if trace.cause == "new_object":
        if advice.is_keras(trace):
            return (
                f"The {trace.function} is built anew {often}: `compile()` was called again, or "
                "the model is a new one."
            )
        return (
            f"A new `tf.function` is made around {quoted(trace)} {often}, so each one is traced "
            "from the start."
        )
    if trace.cause == "context":
        return (
            f"{quoted(trace)} is traced again {often} although no argument differs: the device, "
            "strategy or control-flow scope of the call does."
        )
    if not trace.changes:
        reason = f", for the reason logged: {trace.reason}" if trace.reason else ""
        return f"{quoted(trace)} is traced again {often}{reason}."
    change = trace.changes[0]
    argument = f"Argument `{change.argument}`"
    match change.what:
        case "python_number" | "python_value":
            kind = " ".join(change.after.split()[:2])
            what = f"is a {kind} with a new value {often}"
        case "python_object":
            what = f"is another Python object {often}"
        case "shape":
            what = f"has a new shape {often}"
        case "rank":
            what = f"changes its number of dimensions {often}"
        case "dtype":
            what = f"changes its dtype {often}"
        case "none":
            what = f"changes between `None` and a value {often}"
        case "structure":
            what = f"changes its structure {often}"
        case _:
            what = f"differs {often}"
    return f"{argument} {what}, so TensorFlow builds the graph again."


def _evidence(
    case: Case, claimed: tuple[Finding, ...], groups: Sequence[Sequence[TracedGraph]]
) -> Iterable[str]:
    main = groups[0]
    trace = typical(main)
    total = sum(len(group) for group in groups)
    yield _count_sentence(claimed, main, trace, total)
    yield from _lookup(main)
    change = trace.changes[0] if trace.changes else None
    if change is not None:
        yield f"`{change.argument}`: {', '.join(_examples(main, change.argument))}."
    around = lost_seconds(tuple(f for f in claimed if f.confidence != "high"))
    if around > 0:
        yield (
            f"The steps of the retraces, or those right after them, take {duration(around)} longer "
            "than the others beyond what was timed."
        )
    costs = [graph.cost_seconds for graph in main]
    if growth(costs) >= _GROWS:
        quarter = len(costs) // 4
        yield (
            f"Each trace costs more than the last: {duration(float(np.median(costs[:quarter])))} "
            f"around {case.step_text(main[quarter // 2].row)}, "
            f"{duration(float(np.median(costs[-quarter:])))} "
            f"around {case.step_text(main[-quarter // 2].row)}."
        )
    yield from _left_behind(case, (main[0].row, main[-1].row))
    unknown = sum(g.first_seconds > 0 and g.steady_from == "nothing" for g in main)
    if unknown == len(main):
        yield "No second run of these graphs was seen; the whole first run counts."
    elif unknown:
        yield (
            f"For {unknown:,} of {counted(len(main), 'new graph')} no second run was seen; "
            "the whole first run counts."
        )
    for group in groups[1:3]:
        other = typical(group)
        yield (
            f"{counted(len(group), 'more retrace')} of {quoted(other)}{_place(other)}: "
            f"{ledger_seconds(_cost(group))}."
        )


def _count_sentence(
    claimed: tuple[Finding, ...], graphs: Sequence[TracedGraph], trace: Trace, total: int
) -> str:
    """How many, where, how long, and for what.

    The findings' seconds are without the garbage collections that lie in a
    trace; where there is but one function, they are the ones to give.
    """
    place = f"{quoted(trace)}{_place(trace)}"
    if total == len(graphs):
        who = f"{counted(len(graphs), 'retrace')} of {place} took "
        timed = tuple(finding for finding in claimed if finding.confidence == "high")
        tracing = _of_family(timed, names.TRACING)
        first_runs = _of_family(timed, names.FIRST_EXECUTION)
    else:
        verb = "is" if len(graphs) == 1 else "are"
        who = f"{len(graphs):,} of {total:,} retraces {verb} {place}, "
        tracing = sum(graph.trace.seconds for graph in graphs)
        first_runs = sum(graph.excess_seconds for graph in graphs)
    return (
        f"{who}{ledger_seconds(tracing + first_runs)}: {duration(tracing)} to look the function "
        f"up and build its graph, {duration(first_runs)} in the first run beyond a steady one."
    )


def _of_family(claimed: tuple[Finding, ...], family: str) -> float:
    return lost_seconds(tuple(f for f in claimed if names.family(f.source) == family))


def _lookup(graphs: Sequence[TracedGraph]) -> Iterable[str]:
    """Where comparing arguments, and not building the graph, takes the time."""
    building = sum(graph.trace.building_seconds for graph in graphs)
    tracing = sum(graph.trace.seconds for graph in graphs)
    if building < 0.5 * tracing:
        yield (
            f"Of {duration(tracing)} of tracing only {duration(building)} build graphs; the rest "
            "goes into comparing the arguments with those of earlier graphs."
        )


def _examples(graphs: Sequence[TracedGraph], argument: str) -> list[str]:
    """What the argument changed from and to: the first two traces and the last."""
    texts = [
        f"{_short(change.before)} \u2192 {_short(change.after)}"
        for graph in graphs
        for change in graph.trace.changes
        if change.argument == argument
    ]
    distinct = list(dict.fromkeys(texts))
    if len(distinct) <= 3:
        return distinct
    return [*distinct[:2], f"\u2026 {distinct[-1]}"]


def _short(text: str) -> str:
    """Long floats to six digits: "Python float 0.047045000000000003" -> "Python float 0.047045"."""
    return _LONG_FLOAT.sub(lambda match: f"{float(match[0]):.6g}", text)


def _left_behind(case: Case, rows: tuple[int, int]) -> Iterable[str]:
    """Functions and memory that the retraces left in the process."""
    where, functions = _between(case, "eager_functions", rows)
    if len(functions) >= 2 and functions[-1] > functions[0]:
        yield (
            f"The eager context holds {functions[0]:,.0f} functions at "
            f"{case.step_text(int(where[0]))} and {functions[-1]:,.0f} at "
            f"{case.step_text(int(where[-1]))}."
        )
    where, memory = _between(case, "rss_bytes", rows)
    if len(memory) >= 2 and memory[-1] > 1.1 * memory[0]:
        yield f"Host memory rose from {size(memory[0])} to {size(memory[-1])} in these steps."


def _between(
    case: Case, signal: str, rows: tuple[int, int]
) -> tuple[Sequence[int], Sequence[float]]:
    where, values = case.signal(signal)
    inside = (where >= rows[0]) & (where <= rows[1] + 1)
    return where[inside].tolist(), values[inside].tolist()


def _advice(groups: Sequence[Sequence[TracedGraph]]) -> tuple[Advice, ...]:
    """For the main function all that helps; for the next two functions the first thing each."""
    found = list(advice.advise(typical(groups[0])))
    for group in groups[1:3]:
        found += [each for each in advice.advise(typical(group))[:1] if each not in found]
    return tuple(found)


def _library(case: Case, claimed: tuple[Finding, ...], seconds: float) -> Claim:
    graphs = [graph for graph in in_training(case.graphs) if graph.detail == names.LIBRARY]
    summary = (
        "Functions of tf.data and Keras are traced again: a dataset, an iterator or a model "
        "is made anew, or `fit` or `predict` is called in a loop."
    )
    evidence = [f"{ledger_seconds(seconds)} in {counted(len(graphs), 'trace')} of such functions."]
    if graphs:
        main = _by_code(graphs)[0]
        often = cadence([graph.row for graph in main], len(case.run.steps))
        evidence.append(
            f"The most expensive is `{main[0].trace.function}` ({main[0].trace.location}): "
            f"{counted(len(main), 'trace')}, {often}."
        )
    return Claim(
        "retracing",
        claimed,
        "retracing of library functions",
        summary,
        tuple(evidence),
        advice.library(),
        "high",
    )
