"""The first steps cost more: tracing, first executions, variables, the first pass over the data."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.advice import warm_up as advice
from tb_slowdown_plugin.analysis.rules.case import CORE, Case, Claim, lost_seconds, span
from tb_slowdown_plugin.analysis.traces import TracedGraph, in_training
from tb_slowdown_plugin.analysis.types import Advice, Finding
from tb_slowdown_plugin.analysis.wording import counted, duration, percent
from tb_slowdown_plugin.records import names

_TRACES = (names.TRACING, names.FIRST_EXECUTION)


def explain(case: Case) -> Claim | None:
    """Claims what is warm-up by pattern, and first traces wherever they are."""
    claimed = tuple(finding for finding in case.findings if _is_warm_up(finding))
    if not claimed:
        return None
    parts = _parts(claimed)
    seconds = lost_seconds(claimed)
    last = span(claimed)[1]
    largest_part = max(parts, key=lambda part: parts[part])
    summary = (
        f"The first steps cost {duration(seconds)} more than healthy ones, "
        f"until {case.step_text(last)}; the largest part is {_NAMES[largest_part]}."
    )
    return Claim(
        "warm_up",
        claimed,
        "warm-up",
        summary,
        tuple(_evidence(case, parts, seconds)),
        _advice(parts, seconds),
        "high",
    )


_NAMES = {
    names.TRACING: "building graphs",
    names.FIRST_EXECUTION: "the first run of new graphs",
    names.INPUT_WAIT: "waiting for data",
    CORE: "work that no clock covers: variables, kernels, memory",
}


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


def _evidence(case: Case, parts: dict[str, float], seconds: float) -> Iterable[str]:
    first = [graph for graph in in_training(case.graphs) if not graph.again]
    for part, lost in sorted(parts.items(), key=lambda item: -item[1]):
        share = f"{duration(lost)} ({percent(lost / seconds)} of the warm-up)"
        if part == names.TRACING:
            yield f"{share} went into building graphs{_most_expensive(first)}."
        elif part == names.FIRST_EXECUTION:
            yield from _first_runs(first, share)
        elif part == names.INPUT_WAIT:
            yield (
                f"{share} were waiting for data beyond what later passes wait: cold files, "
                "a cache or a shuffle buffer that fills."
            )
        elif part == CORE:
            yield f"{share} have no clock of their own: variables, kernel choice, memory."
        else:
            yield f"{share} were {_NAMES.get(part, part.replace('_', ' '))}."
    twice = [graph for graph in first if graph.trace.cause == "variables"]
    if twice:
        yield (
            f"{counted(len(twice), 'function')} had to be traced twice because the first call "
            f"creates variables: {_listed(twice)}."
        )


def _most_expensive(graphs: list[TracedGraph]) -> str:
    if not graphs:
        return ""
    most = max(graphs, key=lambda graph: graph.trace.seconds)
    place = f" ({most.trace.location})" if most.trace.location else ""
    return (
        f" of {counted(len({g.trace.function for g in graphs}), 'function')}; the longest took "
        f"`{most.trace.function}`{place} with {duration(most.trace.seconds)} "
        f"for {most.trace.operations:,} operations"
    )


def _first_runs(graphs: list[TracedGraph], share: str) -> Iterable[str]:
    compiled = any(graph.trace.jit_compile for graph in graphs)
    what = "XLA compilation, " if compiled else ""
    unknown = sum(g.first_seconds > 0 and g.steady_from == "nothing" for g in graphs)
    rest = (
        f" For {counted(unknown, 'graph')} no second run was seen; the whole first run counts."
        if unknown
        else ""
    )
    yield (
        f"{share} went into the first run of the new graphs beyond a steady run: "
        f"{what}graph optimisation, kernel choice.{rest}"
    )


def _listed(graphs: list[TracedGraph]) -> str:
    functions = sorted({graph.trace.function for graph in graphs})
    shown = ", ".join(f"`{function}`" for function in functions[:3])
    return shown if len(functions) <= 3 else f"{shown} and {len(functions) - 3} more"


def _advice(parts: dict[str, float], seconds: float) -> tuple[Advice, ...]:
    found: list[Advice] = []
    if parts.get(names.INPUT_WAIT, 0.0) >= 0.2 * seconds:
        found += advice.first_pass()
    built = parts.get(names.TRACING, 0.0) + parts.get(names.FIRST_EXECUTION, 0.0)
    if built >= 0.2 * seconds or not found:
        found += advice.graphs()
    return tuple(found)
