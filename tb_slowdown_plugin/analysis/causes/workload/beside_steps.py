"""What a run does beside its steps and isn't lost, for a headline: validation, other functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds
from tb_slowdown_plugin.analysis.causes.workload.eager_work import find_work_at_once
from tb_slowdown_plugin.analysis.prepare.step_kinds import (
    functions_of,
    name_functions,
    usual_functions,
)
from tb_slowdown_plugin.analysis.prepare.unclocked.eager_work import find_eager_work
from tb_slowdown_plugin.analysis.prepare.unclocked.regular_function import find_regular_function
from tb_slowdown_plugin.analysis.text.wording import (
    count,
    counted,
    duration,
    listed,
    percent,
    whole_percent,
)
from tb_slowdown_plugin.analysis.types import Finding, zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import rule_of
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, TELLING


class _Beside(NamedTuple):
    """What a few steps take beyond others."""

    seconds: float
    functions: list[str]
    """That they run beyond others, of TensorFlow."""
    steps: int


def tell_beside_steps(case: Case, eager: tuple[Finding, ...]) -> str:
    """The largest of it with its share of the run; "" where none takes a quarter.

    Args:
      case: The run.
      eager: What `eager_work.split_eager_work` found.
    """
    seconds, text = max(_find(case, eager), default=(0.0, ""))
    share = case.wall_share(seconds)
    return f"{whole_percent(share)} of it went to {text}." if share >= MATTERS else ""


def _find(case: Case, eager: tuple[Finding, ...]) -> Iterator[tuple[float, str]]:
    """Seconds, and what took them."""
    validation = float(case.account(names.VALIDATION).sum())
    yield validation, "validation"
    work = find_eager_work(case.run) if eager else None
    if work is not None:
        yield lost_seconds(eager), f"work without a graph beside its steps, in {work.place}"
    at_once = None if eager else find_work_at_once(case)
    if at_once is not None:
        seconds = at_once.samples / at_once.of * float(case.run.steps.period_seconds.sum())
        yield seconds, f"operations outside of its graph, in {names.place(at_once.place)}"
    if case.wall_share(validation) < MATTERS:
        yield from ((each.seconds, _tell(case, each)) for each in _find_functions(case))
    for _, fact in case.run.facts(names.STEP_NOT_CHOSEN):
        if fact.numbers.get("gradients"):
            continue  # a step trains with what it gives
        calls = counted(round(fact.numbers.get("calls", 0.0)), "call")
        yield fact.numbers.get("seconds", 0.0), f"{calls} of {fact.subject} beside its steps"


def _tell(case: Case, beside: _Beside) -> str:
    """By the function that samples show, as what TensorFlow runs there may be the least of it."""
    found = find_regular_function(case.run, beside.seconds)
    what = found.place if found is not None else listed(beside.functions)
    return f"{what}, in {count(beside.steps)} of its steps"


def tell_regular_functions(case: Case) -> Iterator[str]:
    """What a quarter of the run went to in a few of its steps, and what to do to spend less."""
    if case.wall_share(float(case.account(names.VALIDATION).sum())) >= MATTERS:
        return
    for beside in _find_functions(case):
        share = case.wall_share(beside.seconds)
        found = find_regular_function(case.run, beside.seconds) if share >= MATTERS else None
        if found is not None:
            yield (
                f"In {count(beside.steps)} steps, which also run {listed(beside.functions)}, the "
                f"program spent {duration(beside.seconds)}, {percent(share)} of the run, beyond "
                f"what others take: by {count(found.samples)} of {count(found.of)} samples of the "
                f"training thread's stack, in {found.place}. Such as an evaluation, it was asked "
                "for and isn't counted as lost. To spend less, do it less often or on fewer "
                "examples, or look for what that line computes for nothing."
            )


def _find_functions(case: Case) -> Iterator[_Beside]:
    """What a few of the steps run beyond what most of them run."""
    steps, found = case.run.steps, case.comparable
    if not found.are_found:
        return
    kinds, counts = np.unique(found.kind, return_counts=True)
    common = found.kind == kinds[np.argmax(counts)]
    own = case.diagnosis.healthy_per_step - sum(
        zero_where_unknown(each)
        for name, each in steps.accounts.items()
        if rule_of(name).class_ != "part"
    )
    usual = float(np.median(own[common]))
    named = name_functions(case.run)
    for kind in kinds[counts <= TELLING * len(steps)]:
        rows = found.kind == kind
        more = usual_functions(steps.ran[rows]) & ~usual_functions(steps.ran[common])
        functions = [f"`{each}`" for each in functions_of(more, named)]
        if functions:
            beyond = float(np.maximum(own[rows] - usual, 0.0).sum())
            yield _Beside(beyond, functions, int(rows.sum()))
