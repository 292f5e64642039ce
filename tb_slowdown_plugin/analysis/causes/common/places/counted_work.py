"""A row for work that a graph tells, and no clock: what all of its kinds have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    to_place,
)
from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.analysis.text.wording import ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names


class CountedWork(NamedTuple):
    """What is told of one line."""

    subject: str
    """Without the line."""
    summary: str
    evidence: str
    """After its seconds, from ", by" or ":" on."""
    advice: Advice


def claim_counted(
    case: Case,
    found: tuple[Finding, ...],
    tells: Mapping[str, Callable[[Mapping[str, float], str], CountedWork]],
    cause: str = "backward_pass",
) -> Claim:
    """Claims the seconds of the line that costs most.

    Args:
      case: The run.
      found: Findings in accounts whose detail is a line.
      tells: Fact about such a line -> what to tell by its numbers and the line.
      cause: Its id.
    """
    main = largest(found)
    claimed = case.defect(main, found)
    place = names.detail(main.source)
    told = next(
        tell(fact.numbers, place)
        for name, tell in tells.items()
        for _, fact in case.run.facts(name)
        if fact.subject == place
    )
    seconds = lost_seconds(claimed)
    share = percent(case.wall_share(seconds))
    return Claim(
        cause,
        claimed,
        f"{told.subject}: {place}",
        told.summary,
        (f"About {ledger_seconds(seconds)} ({share} of the run){told.evidence}.",),
        (told.advice,),
        "medium",
        "flat",
        place=to_place(place),
    )
