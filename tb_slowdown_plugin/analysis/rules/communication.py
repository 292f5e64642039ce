"""Workers wait for each other."""

from __future__ import annotations

from tb_slowdown_plugin.analysis.advice import communication as advice
from tb_slowdown_plugin.analysis.rules.case import Case, Claim, largest
from tb_slowdown_plugin.analysis.rules.plain_accounts import tell_seconds
from tb_slowdown_plugin.records import names


def explain(case: Case) -> Claim | None:
    """Claims the seconds of communication."""
    claimed = case.of(names.COMMUNICATION)
    if not claimed:
        return None
    started = (
        f"from {case.step_text(largest(claimed).rows[0])} on"
        if largest(claimed).pattern == "level_shift"
        else "in the run"
    )
    workers = case.run.environment.worker_count
    among = f" among {workers:,} workers" if workers > 1 else ""
    return Claim(
        "communication",
        claimed,
        "communication between workers",
        f"The step waits for other workers{among} {started}.",
        tuple(tell_seconds(case, claimed, "went into communication")),
        advice.advise(),
    )
