"""What counts as a step where the program doesn't say: text of `tbslow run`."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.text.wording import counted
from tb_slowdown_plugin.catalog.names import STEP_NOT_CHOSEN, STEP_RULE
from tb_slowdown_plugin.records.types import Fact, Run


def describe_step_rule(run: Run) -> str | None:
    """The rule by which steps were found; None where the program marks its steps itself."""
    rules = list(dict.fromkeys(fact.subject for fact in _facts(run, STEP_RULE)))
    if not rules:
        return None
    return f"A step is {'; later '.join(rules)}."


def describe_not_chosen(run: Run) -> Iterable[str]:
    """What was called and makes no step, for the reader to correct the rule."""
    for fact in _facts(run, STEP_NOT_CHOSEN):
        calls = counted(int(fact.numbers.get("calls", 0)), "call")
        yield f"Not counted as steps: {calls} of {fact.subject}."


def _facts(run: Run, name: str) -> Iterable[Fact]:
    for event in run.events:
        if isinstance(event.what, Fact) and event.what.name == name:
            yield event.what
