"""A pace that comes back to where it began: noise of the machine, and no slowdown."""

from __future__ import annotations

from collections.abc import Sequence

from tb_slowdown_plugin.analysis.ledger.findings import (
    AT_START,
)
from tb_slowdown_plugin.analysis.types import CORE, Finding
from tb_slowdown_plugin.catalog.parameters.stats import LATEST_WARM_UP_END


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
