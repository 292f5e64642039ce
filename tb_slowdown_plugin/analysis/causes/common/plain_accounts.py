"""Evidence for causes whose seconds stand in one family of accounts."""

from __future__ import annotations

from collections.abc import Iterable

from tb_slowdown_plugin.analysis.causes.common.context import Case, largest, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.timing_text import course
from tb_slowdown_plugin.analysis.text.wording import ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names


def tell_seconds(case: Case, claimed: tuple[Finding, ...], what: str) -> Iterable[str]:
    """One sentence for each account: its seconds, its share, its course.

    Args:
      case: the run.
      claimed: findings in accounts of one family or of several.
      what: the verb phrase that follows the seconds: "went into compiling".
    """
    for source in dict.fromkeys(finding.source for finding in claimed):
        parts = tuple(finding for finding in claimed if finding.source == source)
        seconds = lost_seconds(parts)
        series = case.account(names.family(source), names.detail(source))
        yield (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) {what}: "
            f"{course(case, largest(parts), series)}."
        )
