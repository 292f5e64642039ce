"""The verdict on a run: whether the program got slower, began slowly, or is healthy.

A pace that comes back to where it began is noise of the machine, and no slowdown.
"""

from __future__ import annotations

from collections.abc import Sequence

from tb_slowdown_plugin.analysis.ledger.findings import AT_START
from tb_slowdown_plugin.analysis.types import CORE, Finding, Ledger, Verdict
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION, THROTTLED
from tb_slowdown_plugin.catalog.parameters.ledger import (
    GROWN_FLOOR,
    SLOW_START_FLOOR,
    UNEXPLAINED_FLOOR,
    UNEXPLAINED_OF_START,
)
from tb_slowdown_plugin.catalog.parameters.stats import LATEST_WARM_UP_END


def judge(findings: Sequence[Finding], ledger: Ledger, *, enough: bool) -> Verdict:
    """The verdict on a run of which these are the findings.

    Args:
      findings: All of them.
      ledger: Of the run; the stalls that are in no finding are unexplained there.
      enough: Whether it has as many steps as a verdict needs.
    """
    rows = len(findings[0].lost_per_step) if findings else 0
    wandering = {id(finding) for finding in find_wandering(findings, rows)}
    warm_up = [finding for finding in findings if finding.pattern == "warm_up"]
    # A run that only got faster did not slow down: what it had been slower by is unexplained.
    first_parts = [
        finding
        for finding in findings
        if finding.numbers.get(AT_START) and id(finding) not in wandering
    ]
    # Nor did one from which others took their time.
    foreign = [
        finding
        for finding in findings
        if names.family(finding.source) == CONTENTION and finding.source != THROTTLED
    ]
    if len(warm_up) + len(first_parts) + len(foreign) + len(wandering) < len(findings):
        return "slowdown"
    if not enough:
        return "not_enough_steps"
    return verdict_on(
        "healthy",
        wall_seconds=ledger.wall_seconds,
        warm_up_seconds=sum(finding.lost_seconds for finding in warm_up),
        named_seconds=0.0,
        unexplained_seconds=ledger.unexplained_seconds
        + sum(finding.lost_seconds for finding in first_parts),
    )


def find_wandering(findings: Sequence[Finding], rows: int) -> tuple[Finding, ...]:
    """Unexplained rises that only go back toward the pace at which the run began.

    A run that begins slowly, gets faster, and then loses part of that again has not slowed down:
    it has a level that wanders.

    Args:
      findings: Of one run.
      rows: Steps of the run.

    Returns:
      The slow beginning, and the rises that end below its level; empty without such a rise.
    """
    core = [finding for finding in findings if finding.source == CORE]
    starts = [
        finding
        for finding in core
        if finding.numbers.get(AT_START)
        and finding.rows[1] - finding.rows[0] + 1 >= LATEST_WARM_UP_END * rows
        and "after_seconds" in finding.numbers
    ]
    level = max((start.numbers["after_seconds"] for start in starts), default=0.0)
    back = [
        finding
        for finding in core
        if finding.pattern in ("level_shift", "drift")
        and not finding.numbers.get(AT_START)
        and finding.numbers.get("after_seconds", float("inf")) <= level
    ]
    return (*starts, *back) if back else ()


def verdict_on(
    diagnosed: Verdict,
    *,
    wall_seconds: float,
    warm_up_seconds: float,
    named_seconds: float,
    unexplained_seconds: float,
) -> Verdict:
    """What a run is.

    Args:
      diagnosed: what the engine says without causes.
      wall_seconds: of the run.
      warm_up_seconds: lost to warm-up, as the rules call it.
      named_seconds: lost to all other causes of the program's own.
      unexplained_seconds: lost to none, in a pattern that stands out of the noise.

    Example:
      >>> verdict_on("slowdown", wall_seconds=12.0, warm_up_seconds=10.0, named_seconds=0.0,
      ...     unexplained_seconds=0.7)
      'slow_start'
      >>> verdict_on("healthy", wall_seconds=12.0, warm_up_seconds=0.0, named_seconds=0.0,
      ...     unexplained_seconds=4.0)
      'slowdown'
    """
    if diagnosed == "not_enough_steps":
        return diagnosed
    if named_seconds > 0:
        return "slowdown"
    slow_start = warm_up_seconds >= SLOW_START_FLOOR * wall_seconds
    if slow_start and unexplained_seconds <= UNEXPLAINED_OF_START * warm_up_seconds:
        return "slow_start"
    floor = GROWN_FLOOR if diagnosed == "slowdown" else UNEXPLAINED_FLOOR
    if unexplained_seconds >= floor * wall_seconds > 0:
        return "slowdown"
    return "slow_start" if slow_start else "healthy"
