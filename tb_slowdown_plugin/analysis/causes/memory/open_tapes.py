"""Gradient tapes that stay open: for most of the run, or in each of many stretches of it."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, to_place
from tb_slowdown_plugin.analysis.causes.common.timing_text import tell_rise, tell_seconds
from tb_slowdown_plugin.analysis.causes.common.trend_tests import SignalGrowth, ends, growth_of
from tb_slowdown_plugin.analysis.causes.memory.growing_bytes import RESIDENT, goes_on
from tb_slowdown_plugin.analysis.causes.memory.tensor_retention_fixes import Retention, advise
from tb_slowdown_plugin.analysis.text.wording import count, size
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import OPEN_TAPE
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS


def claim_in_turn(case: Case, claimed: tuple[Finding, ...]) -> Claim:
    """Tapes that slow the steps in them, each of them anew."""
    place = names.detail(claimed[0].source)
    age = max(_ages(case).values())
    return _claim(
        claimed,
        place,
        (
            f"A tape was open for up to {count(age)} steps. The longer it was open, the longer the "
            "step took.",
            *tell_seconds(case, claimed, "is what steps took beyond the first ones of each tape"),
        ),
    )


def claim_long_one(case: Case, claimed: tuple[Finding, ...], rows: tuple[int, int]) -> Claim | None:
    """A tape that is open for most of the run while the process grows."""
    ages = _ages(case)
    memory = growth_of(case, RESIDENT, rows)
    if not ages or memory is None or not goes_on(memory):
        return None
    place = max(ages, key=ages.__getitem__)
    if ages[place] < MATTERS * (rows[1] - rows[0]):
        return None
    grown = tell_rise(case, "Step time", ends(case.run.steps.period_seconds, rows), rows)
    return _claim(
        claimed,
        place,
        (
            f"The tape was open for {count(ages[place])} steps when it was last sampled.",
            _tell_memory(case, memory),
            *([f"{grown}."] if grown else []),
        ),
    )


def _ages(case: Case) -> dict[str, float]:
    """Line that opened a tape -> steps for which it was open at most."""
    ages: dict[str, float] = {}
    for _, fact in case.run.facts(OPEN_TAPE):
        ages[fact.subject] = max(ages.get(fact.subject, 0.0), fact.numbers["age_steps"])
    return ages


def _claim(claimed: tuple[Finding, ...], place: str, evidence: tuple[str, ...]) -> Claim:
    return Claim(
        "tensor_retention",
        claimed,
        f"a gradient tape left open: {place}",
        f"The gradient tape opened by `{place}` records step after step, so none of its tensors "
        "can be freed.",
        evidence,
        advise(Retention(tape=True)),
        "medium",
        "drift",
        place=to_place(place, "GradientTape"),
    )


def _tell_memory(case: Case, memory: SignalGrowth) -> str:
    return (
        f"Host memory rose from {size(memory.first)} around {case.step_text(memory.first_row)} to "
        f"{size(memory.last)} around {case.step_text(memory.last_row)}."
    )
