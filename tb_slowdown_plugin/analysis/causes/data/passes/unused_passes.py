"""The program goes through a dataset without a step, such as to count its batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, counted, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import UNUSED_PASS
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, SEVERAL


class PassesOfLine(NamedTuple):
    """Of one line."""

    place: str
    passes: int
    batches: int
    seconds: float


def find(case: Case, claimed: tuple[Finding, ...]) -> PassesOfLine | None:
    """The line whose passes took most of the input wait; None where none did, or only once or so.

    Args:
      case: The run.
      claimed: All findings in input wait.
    """
    lines: dict[str, Mapping[str, float]] = {
        fact.subject: fact.numbers for _, fact in case.run.facts(UNUSED_PASS)
    }
    found = [
        PassesOfLine(names.place(place), round(of["passes"]), round(of["batches"]), of["seconds"])
        for place, of in lines.items()
        if of["passes"] >= SEVERAL
    ]
    most = max(found, key=lambda each: each.seconds, default=None)
    is_most = most is not None and most.seconds >= MAJORITY * lost_seconds(claimed)
    return most if is_most else None


def claim(case: Case, claimed: tuple[Finding, ...], unused: PassesOfLine) -> Claim:
    """Claims lost input wait most of which is that of such passes."""
    lost = lost_seconds(claimed)
    each = count(unused.batches / unused.passes)
    spent = ledger_seconds(unused.seconds)
    return Claim(
        "input_pipeline",
        claimed,
        f"passes without a step: {unused.place}",
        f"{counted(unused.passes, 'time')}, the program goes through {each} batches of a dataset "
        f"without a step between them, in {unused.place}.",
        (
            f"{ledger_seconds(lost)} ({percent(case.wall_share(lost))} of the run) was lost to "
            f"input wait, timed at the call that fetches each batch. {spent} was spent in these "
            "passes, the first one included.",
        ),
        (_once(unused.place), _ask(unused.place)),
        place=to_place(unused.place),
    )


def _once(place: str) -> Advice:
    return Advice(
        "Go through it once, before the first epoch, and keep what you need of it.",
        snippet(
            new("batches = sum(1 for _ in train)"),
            same("for epoch in range(epochs):"),
            old("    batches = sum(1 for _ in train)"),
            same("    for x, y in train:"),
        ),
        "What is kept isn't made again: batches in a list are shuffled and augmented once.",
        f"in `{place}`",
    )


def _ask(place: str) -> Advice:
    return Advice(
        "If it is only their number: TensorFlow tells it without a pass.",
        snippet(
            old("batches = len(list(train))"),
            new("batches = int(train.cardinality())"),
        ),
        "It is -2 where TensorFlow can't know it, such as after `filter` or for a generator.",
        f"in `{place}`",
    )
