"""The profiler itself was on."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice import profiling as advice
from tb_slowdown_plugin.analysis.rules.case import Case, Claim
from tb_slowdown_plugin.analysis.rules.plain_accounts import tell_seconds
from tb_slowdown_plugin.analysis.wording import counted
from tb_slowdown_plugin.records.types import Capture

ACCOUNT = "profiling"


def explain(case: Case) -> Claim | None:
    """Claims the seconds of the profiler."""
    claimed = case.of(ACCOUNT)
    if not claimed:
        return None
    captures = [event.what for event in case.run.events if isinstance(event.what, Capture)]
    begun = sum(capture.running for capture in captures)
    return Claim(
        "profiling",
        claimed,
        "the profiler",
        f"{counted(begun, 'profiler capture')} slowed the run down."
        if begun
        else "The profiler slowed the run down.",
        tuple(tell_seconds(case, claimed, "went into the profiler")),
        advice.advise(),
    )
