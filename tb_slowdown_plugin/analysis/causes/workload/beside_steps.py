"""What a run does beside its steps and isn't lost, for a headline: validation, other functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds
from tb_slowdown_plugin.analysis.prepare.step_kinds import (
    functions_of,
    name_functions,
    usual_functions,
)
from tb_slowdown_plugin.analysis.prepare.unclocked.eager_work import find_eager_work
from tb_slowdown_plugin.analysis.text.wording import counted, listed, whole_percent
from tb_slowdown_plugin.analysis.types import Finding, zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import rule_of
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, TELLING


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
    if case.wall_share(validation) < MATTERS:
        yield from _find_functions(case)
    for _, fact in case.run.facts(names.STEP_NOT_CHOSEN):
        if fact.numbers.get("gradients"):
            continue  # a step trains with what it gives
        calls = counted(round(fact.numbers.get("calls", 0.0)), "call")
        yield fact.numbers.get("seconds", 0.0), f"{calls} of {fact.subject} beside its steps"


def _find_functions(case: Case) -> Iterator[tuple[float, str]]:
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
            yield beyond, f"{listed(functions)}, in {int(rows.sum()):,} of its steps"
