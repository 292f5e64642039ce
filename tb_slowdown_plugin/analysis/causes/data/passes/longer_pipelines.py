"""The dataset of each epoch is made of the one before, so the pipeline gets longer and longer."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds, to_place
from tb_slowdown_plugin.analysis.causes.common.fixes import new, old, same, snippet
from tb_slowdown_plugin.analysis.causes.common.places.stage_lines import line_made_anew
from tb_slowdown_plugin.analysis.causes.data import pipeline_evidence
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import count, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, SEVERAL

_MORE_DATA: Final = "Concatenate"
"""A stage with which a pass has more elements, and no element more stages."""


class LongerPipelines(NamedTuple):
    """Of a run, in order."""

    first: int
    """Stages of the first pipeline."""
    last: int
    passes: int
    """With a longer one than the pass before."""
    place: str
    """The one function of the program in it, or the line that adds stages; "" without one."""


def find(case: Case, claimed: tuple[Finding, ...]) -> LongerPipelines | None:
    """None where pipelines stay as they are, or where the wait began before they got longer.

    Args:
      case: The run.
      claimed: All findings in input wait.
    """
    told = [(row, fact.subject.split()) for row, fact in case.run.facts(names.INPUT_PIPELINE)]
    if not told:
        return None
    first = before = told[0][1]
    longer: list[int] = []
    for row, stages in told[1:]:
        # All but such as a `batch` and a `prefetch`, which each pass puts behind what stays.
        alike = sum(one == other for one, other in zip(before, stages, strict=False))
        begins_alike = alike >= MAJORITY * len(before)
        if begins_alike and len(stages) > len(before) and _MORE_DATA not in stages:
            longer.append(row)
            before = stages
    if len(longer) < SEVERAL:
        return None
    lost = np.sum([finding.lost_per_step for finding in claimed], axis=0)
    if lost[longer[0] :].sum() < MAJORITY * lost_seconds(claimed):
        return None
    place = pipeline_evidence.only_function(case) or line_made_anew(case)
    return LongerPipelines(len(first), len(before), len(longer), place)


def claim(case: Case, claimed: tuple[Finding, ...], longer: LongerPipelines) -> Claim:
    """Claims the lost input wait."""
    lost = lost_seconds(claimed)
    where = f": {longer.place}" if longer.place else ""
    return Claim(
        "input_pipeline",
        claimed,
        f"a pipeline that gets longer in each pass{where}",
        f"The dataset of each pass is made of the one before, and has its stages, too: "
        f"{count(longer.first)} in the first pass, {count(longer.last)} in the last.",
        (
            f"{ledger_seconds(lost)} ({percent(case.wall_share(lost))} of the run) was lost to "
            "input wait, timed at the call that fetches each batch.",
            f"It got longer {count(longer.passes)} times. Each element goes through all stages, "
            "and each of their shuffle buffers is filled before the first batch of a pass.",
        ),
        (_begin_anew(longer.place),),
        place=to_place(longer.place) if longer.place else None,
    )


def _begin_anew(place: str) -> Advice:
    return Advice(
        "Make each pass of the dataset as it is without these stages, or add them once, before "
        "the first epoch: random ones give other elements in each pass anyway.",
        snippet(
            new("train = train.map(augment).shuffle(1_000)"),
            same("for epoch in range(epochs):"),
            old("    train = train.map(augment).shuffle(1_000)"),
            same("    model.fit(train.batch(32))"),
        ),
        "None.",
        f"in `{place}`" if place else "find where a dataset is made of itself in the loop",
    )
