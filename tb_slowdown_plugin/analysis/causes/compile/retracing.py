"""A `tf.function` is retraced.

A call has an argument that is new to the function, the function object itself is new, or
`compile()` ran again. The cost is the function cache lookup, building the graph, and what the first
execution of the new graph takes beyond a later one. After the initial traces, a healthy run has
none.

How it looks: Single slow steps. Each has a row in the Retraces panel with the argument that
changed.

Confused with:

- `xla_compilation`: The slow steps look the same, but the Retraces panel has no row for them.
- `shape_churn`: Batch shapes are new as well, but no function is retraced for them: its signature
  leaves the shape open, and only memory and kernels can't be reused.
- `callbacks`: `model.predict()` in the loop counts as retracing, because each call re-creates a
  dataset and retraces its functions. Called by a callback, its time is the callback's.
- Healthy, a new stage of training: `compile()` after unfreezing layers costs one trace, which is
  warm-up. Longer steps after it, for a larger graph, are workload.

Also Keras's `predict` and its like in a loop: functions and threads are re-created in each call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common import recreated_objects
from tb_slowdown_plugin.analysis.causes.common.call_text import tell_parts
from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    span,
    to_place,
)
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import (
    cadence,
    tell_seconds,
    working_rows,
)
from tb_slowdown_plugin.analysis.causes.compile import retrace_fixes
from tb_slowdown_plugin.analysis.causes.compile.retrace_text import (
    is_compiled_again,
    tell_reason,
    tell_retraces,
    typical,
)
from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph, in_training
from tb_slowdown_plugin.analysis.prepare.retrace_groups import Retrace, find_retraces, label, place
from tb_slowdown_plugin.analysis.prepare.settled_functions import is_of_new_model
from tb_slowdown_plugin.analysis.prepare.user_calls import Called, call_of, called
from tb_slowdown_plugin.analysis.report_types.causes import Advice, Place
from tb_slowdown_plugin.analysis.text.wording import counted, duration, ledger_seconds
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CREATION
from tb_slowdown_plugin.catalog.events import OPTIMIZER_AT, OPTIMIZER_CREATED
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY

_CLAIMED: Final = frozenset((names.TRACING, names.FIRST_EXECUTION, names.PREDICT, names.CALL))
_COMPUTE: Final = frozenset(("predict", "fit", "evaluate"))
"""Calls that make a dataset of their arguments, and compute it."""


def explain(case: Case) -> Claim | None:
    """Claims every second of tracing and of first executions that is not warm-up."""
    claimed = tuple(
        finding for finding in case.findings if names.family(finding.source) in _CLAIMED
    )
    if not claimed:
        return None
    predicting = case.of(names.PREDICT, names.CALL)
    if lost_seconds(predicting) > MAJORITY * lost_seconds(claimed):
        return _claim_calls(case, claimed, predicting)
    groups = _by_code(find_retraces(in_training(case.graphs)))
    if not groups:
        return _library(case, claimed, predicting)
    trace = typical(groups[0])
    traced = tuple(finding for finding in claimed if finding not in predicting)
    compiled = _compiled_at(case) if is_compiled_again(trace) else None
    theirs = _makes_optimizers(case, compiled) if compiled else _come_with(case, groups[0])
    optimizers = case.of(CREATION) if theirs else ()
    return Claim(
        "retracing",
        (*claimed, *optimizers),
        f"retracing of {label(trace)}{place(trace)}",
        tell_reason(groups[0], trace, span(claimed)),
        (
            *tell_retraces(case, traced, groups),
            *_tell_compiles(case),
            *tell_seconds(
                case, optimizers, f"went into making the optimizer that {_owner(compiled)} with"
            ),
            *_tell_calls(case, predicting),
        ),
        _advice(groups, Program.of(case.run)),
        "high",
        place=compiled or to_place(trace.location, label(trace)),
    )


def _compiled_at(case: Case) -> Place | None:
    """The line that compiles a model again most often."""
    lines = [each.line for each in _compiles(case) if each.call == "compile"]
    return to_place(lines[0]) if lines else None


def _makes_optimizers(case: Case, at: Place) -> bool:
    made = [to_place(fact.subject) for _, fact in case.run.facts(OPTIMIZER_AT)]
    return any(each and (each.file, each.line) == (at.file, at.line) for each in made)


def _come_with(case: Case, retraces: Sequence[Retrace]) -> bool:
    """Whether most optimizers are made in the steps in which a new model is traced."""
    steps = {each.row for each in retraces if is_of_new_model(each.trace)}
    made = {row for row, _ in case.run.facts(OPTIMIZER_CREATED)}
    return len(made & steps) > MAJORITY * len(made)


def _owner(compiled: Place | None) -> str:
    return "it compiles" if compiled else "each new model trains"


def _compiles(case: Case) -> tuple[Called, ...]:
    return called(case.run, names.account(names.TRACING, names.AGAIN))


def _tell_compiles(case: Case) -> Iterable[str]:
    """The lines that compile a model again."""
    for each in _compiles(case):
        yield (
            f"`{each.call}` of a model that has trained was called in {each.line}, "
            f"{counted(round(each.calls), 'time')} at least."
        )


def _by_code(retraces: Iterable[Retrace]) -> list[list[Retrace]]:
    groups: dict[tuple[str, str], list[Retrace]] = defaultdict(list)
    for retrace in retraces:
        groups[retrace.code].append(retrace)
    return sorted(groups.values(), key=lambda group: -sum(each.cost_seconds for each in group))


def _advice(groups: Sequence[Sequence[Retrace]], program: Program) -> tuple[Advice, ...]:
    """For the main function all that helps; for the next two functions the first thing each."""
    found = list(retrace_fixes.advise(typical(groups[0]), program))
    for group in groups[1:3]:
        found += retrace_fixes.advise(typical(group), program)[:1]
    return tuple(dict.fromkeys(found))


def _library(case: Case, claimed: tuple[Finding, ...], predicting: tuple[Finding, ...]) -> Claim:
    graphs = [graph for graph in in_training(case.graphs) if graph.detail == names.LIBRARY]
    summary = (
        "The program re-creates a dataset, iterator, or model, or calls `fit` or `evaluate` on "
        "arrays in a loop. Each time, TensorFlow retraces internal functions."
    )
    seconds = lost_seconds(claimed) - lost_seconds(predicting)
    traces = counted(len(graphs), "trace") if graphs else "traces"
    evidence = [f"{ledger_seconds(seconds)} was lost in {traces} of such functions."]
    if graphs:
        by_code: dict[tuple[str, str], list[TracedGraph]] = defaultdict(list)
        for graph in graphs:
            by_code[graph.trace.function, graph.trace.location].append(graph)
        main = max(by_code.values(), key=lambda group: sum(each.cost_seconds for each in group))
        often = cadence([graph.row for graph in main], len(case.run.steps))
        evidence.append(
            f"The most expensive is `{main[0].trace.function}` ({main[0].trace.location}): "
            f"{counted(len(main), 'trace')}, {often}."
        )
    evidence += _tell_calls(case, predicting)
    return Claim(
        "retracing",
        claimed,
        "retracing of tf.data and Keras functions",
        summary,
        tuple(evidence),
        recreated_objects.repeated_setup(
            recreated_objects.RepeatedSetup.of(graphs, in_fit=Program.of(case.run).in_fit)
        ),
        "high",
    )


def _claim_calls(case: Case, claimed: tuple[Finding, ...], calling: tuple[Finding, ...]) -> Claim:
    """The cause, where calls of the user's are most of what is claimed: those of one method.

    Args:
      case: the run.
      claimed: findings in the accounts of tracing, first executions and calls.
      calling: those of calls; not empty.
    """
    main = largest(calling)
    others = tuple(finding for finding in claimed if finding not in calling)
    calling = case.defect(main, calling, lambda finding: call_of(finding.source)[0])
    call, place = call_of(main.source)
    seconds = np.sum(
        [case.account(names.family(f.source), names.detail(f.source)) for f in calling], axis=0
    )
    rows = working_rows(seconds)
    told = called(case.run, main.source)
    few = ", on a few examples" if not told or told[0].is_small else ""
    beside = ", not counting what the model computes"
    if call not in _COMPUTE:
        few = beside = ""
    often, such = cadence(rows, len(case.run.steps)), "Each such step"
    if len(rows) == 1:
        often, such = f"in {case.step_text(int(rows[0]))} only", "That step"
    lines, what = place, "the call itself"
    if told and len(rows) < told[0].calls:
        what = "the calls themselves"
    if len(calling) > 1:
        lines, what = f"{place}, and {counted(len(calling) - 1, 'other line')}", "these calls"
    return Claim(
        "retracing",
        (*others, *calling),
        f"calls to {call} ({place})",
        f"`{call}()` runs {often}{few} ({lines}). {such} spends "
        f"{duration(float(np.median(seconds[rows])))} on {what}{beside}.",
        (
            *_tell_calls(case, calling),
            *tell_seconds(
                case, others, "went into tracing and first executions of other functions"
            ),
        ),
        recreated_objects.instead_of(call),
        "high",
        place=to_place(place, call),
    )


def _tell_calls(case: Case, calling: tuple[Finding, ...]) -> Iterable[str]:
    """What calls of the user's took, and why."""
    for finding in calling:
        call, place = call_of(finding.source)
        yield from tell_seconds(case, (finding,), f"went into `{call}()` at {place}")
        yield from (tell_parts(each) for each in called(case.run, finding.source))
    if any(call_of(finding.source)[0] in _COMPUTE for finding in calling):
        yield (
            "Each call makes a dataset of its arguments, retraces its functions, and starts and "
            "stops its threads. What the model computes isn't counted."
        )
