"""What counts as a step where the program doesn't say: text of `tbslow run`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.text.wording import counted, duration, percent
from tb_slowdown_plugin.catalog.names import STEP_NOT_CHOSEN, STEP_RULE
from tb_slowdown_plugin.catalog.parameters.shared import TELLING
from tb_slowdown_plugin.records.run import Run

_MOST_RULES: Final = 3


def describe_step_rule(run: Run) -> str | None:
    """The rule by which steps were found; None where the program marks its steps itself."""
    steps: dict[str, float] = {}
    for _, fact in run.facts(STEP_RULE):
        known = steps.get(fact.subject, 0.0)
        steps[fact.subject] = max(known, fact.numbers.get("steps", 0.0))
    if not steps:
        return None
    if len(steps) == 1 or not all(steps.values()):
        return f"A step is {'; later '.join(steps)}."
    most = sorted(steps, key=lambda rule: -steps[rule])[:_MOST_RULES]
    rules = [f"{rule}: {counted(int(steps[rule]), 'step')}" for rule in most]
    return f"A step is {'; or '.join(rules)}."


def describe_not_chosen(run: Run) -> Iterable[str]:
    """What was called and makes no step, for the reader to correct the rule, and to spend less."""
    wall = float(np.nansum(run.steps.period_seconds))
    for _, fact in run.facts(STEP_NOT_CHOSEN):
        calls = counted(int(fact.numbers.get("calls", 0)), "call")
        told = f"Not counted as steps: {calls} of {fact.subject}"
        seconds = fact.numbers.get("seconds", 0.0)
        share = seconds / wall if wall > 0 else 0.0
        if share < TELLING:
            yield f"{told}."
        else:
            what = (
                "It computes gradients, so a step trains with what it gives."
                if fact.numbers.get("gradients")
                else "If it evaluates the model, do so less often, or on fewer examples."
            )
            yield f"{told}. That took {duration(seconds)}, {percent(share)} of the run. {what}"
