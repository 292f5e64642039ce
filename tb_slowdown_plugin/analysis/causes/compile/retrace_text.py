"""Retraces in sentences: why, what they cost, what changed, and what they left behind.

Start at `tell_reason` and `tell_retraces`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, growth
from tb_slowdown_plugin.analysis.prepare.retrace_groups import Retrace, is_keras, place, quoted
from tb_slowdown_plugin.analysis.prepare.settled_functions import COMPILED_AGAIN
from tb_slowdown_plugin.analysis.text.wording import (
    count,
    counted,
    duration,
    ledger_seconds,
    significant,
    size,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import LARGER, MAJORITY
from tb_slowdown_plugin.records.types import Change, Trace

_LONG_FLOAT: Final = re.compile(r"-?\d+\.\d{6,}(?:e[-+]?\d+)?")

_PYTHON_TYPE: Final = re.compile(r"Python \w+ ")


def typical(retraces: Sequence[Retrace]) -> Trace:
    """A trace whose cause and changes are the most frequent of its group."""
    reasons: dict[tuple[str, ...], list[Retrace]] = defaultdict(list)
    for retrace in retraces:
        changed = tuple(f"{c.argument} {c.what}" for c in retrace.trace.changes)
        reason = (retrace.trace.cause, *changed)
        reasons[reason].append(retrace)
    return max(reasons.values(), key=len)[-1].trace


def tell_reason(retraces: Sequence[Retrace], trace: Trace, rows: tuple[int, int]) -> str:
    """Why, and how often.

    Args:
      retraces: of one function.
      trace: the typical one of them.
      rows: first and last row of the steps that lost time to them.
    """
    # One may have cost nothing, and one may be of the step that goes on.
    retraced = [retrace.row for retrace in retraces if retrace.row <= rows[1]] or [rows[1]]
    often = cadence(retraced, rows[1] - min(rows[0], *retraced) + 1)
    if trace.cause == "new_object":
        if is_keras(trace):
            return f"The {trace.function} is rebuilt {often}: {_why_rebuilt(trace)}."
        return (
            f"The program wraps {quoted(trace)} in a new `tf.function` {often}, and each one "
            "starts with an empty cache."
        )
    if trace.cause == "context":
        return (
            f"TensorFlow retraces {quoted(trace)} {often} with the same arguments: the device, "
            "strategy, or control-flow scope of the call differs."
        )
    if not trace.changes:
        reason = f", for the reason logged: {trace.reason}" if trace.reason else ""
        return f"{quoted(trace)} is retraced {often}{reason}."
    change = trace.changes[0]
    return (
        f"Argument `{change.argument}` {_what_differs(change)} {often}, so TensorFlow retraces "
        "the function."
    )


def is_compiled_again(trace: Trace) -> bool:
    """Whether `compile()` of the same model is why its step is built again."""
    return is_keras(trace) and any(each.after == COMPILED_AGAIN for each in trace.changes)


def _why_rebuilt(trace: Trace) -> str:
    if is_compiled_again(trace):
        return "`compile()` runs again"
    new, unknown = "the model is a new one", "`compile()` runs again, or the model is a new one"
    return new if trace.changes else unknown


def _what_differs(change: Change) -> str:
    match change.what:
        case "python_number" | "python_value":
            kind = " ".join(change.after.split()[:2]).rstrip(",")
            return f"is a {kind} with a new value"
        case "python_object":
            return "is a different object"
        case "shape":
            return "has a new shape"
        case "rank":
            return "changes its number of dimensions"
        case "dtype":
            return "changes its dtype"
        case "none":
            return "switches between `None` and a value"
        case "structure":
            return "changes its structure"
        case _:
            return "differs"


def tell_retraces(
    case: Case, claimed: tuple[Finding, ...], groups: Sequence[Sequence[Retrace]]
) -> Iterable[str]:
    """Evidence for retraces.

    Args:
      case: the run.
      claimed: findings in the accounts of tracing and first executions.
      groups: retraces by function, the most expensive function first.
    """
    main = groups[0]
    trace = typical(main)
    yield _count_sentence(claimed, main, trace, sum(len(group) for group in groups))
    yield from _lookup(main)
    if trace.changes:
        argument = trace.changes[0].argument
        examples = _examples(main, argument)
        if examples:
            yield f"`{argument}`: {', '.join(examples)}."
    around = lost_seconds(tuple(f for f in claimed if f.confidence != "high"))
    if around > 0:
        yield (
            f"The steps of the retraces, and those right after them, took another "
            f"{duration(around)} longer than other steps (not timed directly)."
        )
    yield from _rising(case, main)
    yield from _left_behind(case, (main[0].row, main[-1].row))
    yield from _unknown(main)
    for group in groups[1:3]:
        other = typical(group)
        more = f"{counted(len(group), 'more retrace')} of {quoted(other)}{place(other)}"
        seconds = sum(retrace.cost_seconds for retrace in group)
        yield f"{more}: {ledger_seconds(seconds)}." if seconds > 0 else f"{more}."


def _count_sentence(
    claimed: tuple[Finding, ...], retraces: Sequence[Retrace], trace: Trace, total: int
) -> str:
    """How many, where, how long, and for what.

    The findings' seconds are without the garbage collections that lie in a
    trace; where there is but one function, they are the ones to give.
    """
    where = f"{quoted(trace)}{place(trace)}"
    if total == len(retraces):
        who = f"{counted(len(retraces), 'retrace')} of {where} took "
        timed = tuple(finding for finding in claimed if finding.confidence == "high")
        tracing = _of_family(timed, names.TRACING)
        first_runs = _of_family(timed, names.FIRST_EXECUTION)
    else:
        verb = "is" if len(retraces) == 1 else "are"
        who = f"{len(retraces):,} of {total:,} retraces {verb} {where}, "
        tracing = sum(retrace.tracing_seconds for retrace in retraces)
        first_runs = sum(retrace.excess_seconds for retrace in retraces)
    whole = tracing + first_runs
    sum_text = ledger_seconds(whole) if whole >= 0.1 else duration(whole)
    lookup, run = "of tracing", "extra in the first execution of each new graph"
    if not (tracing > 0 and first_runs > 0):
        return f"{who}{sum_text} {lookup if tracing > 0 else run}."
    return f"{who}{sum_text}: {duration(tracing)} {lookup}, {duration(first_runs)} {run}."


def _of_family(claimed: tuple[Finding, ...], family: str) -> float:
    return lost_seconds(tuple(f for f in claimed if names.family(f.source) == family))


def _lookup(retraces: Sequence[Retrace]) -> Iterable[str]:
    """Where comparing arguments, and not building the graph, takes the time."""
    building = sum(retrace.building_seconds for retrace in retraces)
    tracing = sum(retrace.tracing_seconds for retrace in retraces)
    if building < MAJORITY * tracing:
        yield (
            f"Only {duration(building)} of the {duration(tracing)} of tracing built graphs. "
            "The rest was function cache lookup: comparing the arguments with those of earlier "
            "graphs."
        )


def _examples(retraces: Sequence[Retrace], argument: str) -> list[str]:
    """What the argument changed from and to: the first two and the last."""
    changes = [
        change
        for retrace in retraces
        for change in retrace.trace.changes
        if change.argument == argument and change.before != change.after
    ]
    distinct = list(dict.fromkeys(_from_to(change) for change in changes))
    if len(distinct) > 3:
        distinct = [*distinct[:2], f"\u2026 {distinct[-1]}"]
    kind = _PYTHON_TYPE.match(distinct[0]) if distinct else None
    if kind and all(each.removeprefix("\u2026 ").startswith(kind[0]) for each in distinct):
        # The type once is enough.
        distinct[1:] = [each.replace(kind[0], "") for each in distinct[1:]]
    return distinct


def _from_to(change: Change) -> str:
    before, after = _short(change.before), _short(change.after)
    if before == after:  # they differ in a later digit
        before, after = change.before, change.after
    kind = _PYTHON_TYPE.match(before)
    if kind:
        after = after.removeprefix(kind[0])
    return f"{before} \u2192 {after}"


def _short(text: str) -> str:
    """Long floats to six digits: "Python float 0.047045000000000003" -> "Python float 0.047045"."""
    return _LONG_FLOAT.sub(lambda match: significant(float(match[0]), 6), text)


def _rising(case: Case, retraces: Sequence[Retrace]) -> Iterable[str]:
    costs = [retrace.cost_seconds for retrace in retraces]
    if growth(costs) > 1:
        quarter = len(costs) // 4
        yield (
            "Each trace costs more than the last: "
            f"{duration(float(np.median(costs[:quarter])))} around "
            f"{case.step_text(retraces[quarter // 2].row)}, "
            f"{duration(float(np.median(costs[-quarter:])))} around "
            f"{case.step_text(retraces[-quarter // 2].row)}."
        )


def _left_behind(case: Case, rows: tuple[int, int]) -> Iterable[str]:
    """Functions and memory that the retraces left in the process."""
    where, functions = _between(case, "eager_functions", rows)
    if len(functions) >= 2 and functions[-1] >= LARGER * functions[0]:
        yield (
            f"The eager context holds {count(functions[0])} functions at "
            f"{case.step_text(int(where[0]))} and {count(functions[-1])} at "
            f"{case.step_text(int(where[-1]))}."
        )
    where, memory = _between(case, "rss_bytes", rows)
    if len(memory) >= 2 and memory[-1] >= LARGER * memory[0]:
        yield f"Host memory rose from {size(memory[0])} to {size(memory[-1])} in these steps."


def _between(
    case: Case, signal: str, rows: tuple[int, int]
) -> tuple[Sequence[int], Sequence[float]]:
    where, values = case.signal(signal)
    inside = (where >= rows[0]) & (where <= rows[1] + 1)
    return where[inside].tolist(), values[inside].tolist()


def _unknown(retraces: Sequence[Retrace]) -> Iterable[str]:
    """Where no later run is known, and the first one counts as a whole."""
    unknown = sum(retrace.steady_is_unknown for retrace in retraces)
    if unknown == len(retraces):
        yield "Each graph ran only once, so its whole first execution is counted."
    elif unknown:
        yield (
            f"{unknown:,} of {counted(len(retraces), 'new graph')} ran only once: "
            "the whole first execution is counted."
        )
