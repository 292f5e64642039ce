"""Where a run changes, in a few words, and by how much: what the timeline says at a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.ledger.findings import AT_START
from tb_slowdown_plugin.analysis.text.wording import duration, rises
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.records.types import Float


def label_changes(
    case: Case,
    found: Iterable[tuple[str, tuple[Finding, ...]]],
    per_cause: Mapping[str, Float],
) -> Iterable[tuple[int, str]]:
    """Says of each cause where it begins to take time, or to grow: once at a step.

    What a step takes more is told of the seconds that the timeline draws there: the mean of
    all that the cause lost in those steps, less what it lost before them.

    Args:
      case: gives steps their numbers.
      found: causes, and "unexplained", with their findings.
      per_cause: (S,) seconds that each of them lost in each step.

    Returns:
      (row, words), in no order.
    """
    for cause, findings in found:
        labeled: set[int] = set()
        for finding in sorted(findings, key=lambda each: -each.lost_seconds):
            row = finding.rows[0]
            text = _label(case, finding, per_cause[cause])
            if text and row not in labeled:
                labeled.add(row)
                yield row, f"{cause_title(cause)}: {text}"


def _label(case: Case, finding: Finding, lost: Float) -> str:
    last = finding.rows[1]
    if finding.pattern == "drift":
        return "grows from here"
    if finding.pattern != "level_shift":
        return ""
    if not (rise := rise_of(case, finding, lost)):
        return ""
    more = f"+{duration(rise)} per step"
    ends = last + 1 < len(lost)
    if finding.numbers.get(AT_START):
        return f"{more} up to {case.step_text(last)}" if ends else ""
    return f"{more} from here{' to ' + case.step_text(last) if ends else ''}"


def rise_of(case: Case, finding: Finding, lost: Float) -> float:
    """Seconds that a step loses more in the rows of a finding than before; 0 where it does not.

    Args:
      case: says where the warm-up ends.
      finding: a level shift.
      lost: (S,) seconds that its cause lost in each step.
    """
    first, last = finding.rows
    before = _mean(lost[min(case.diagnosis.warm_up_rows, first) : first])
    after = _mean(lost[first : last + 1])
    return after - before if rises(before, after) else 0.0


def _mean(seconds: Float) -> float:
    return float(seconds.mean()) if len(seconds) else 0.0
