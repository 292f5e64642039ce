"""Where a run changes, in a few words, and by how much: what the timeline says at a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, largest
from tb_slowdown_plugin.analysis.ledger.findings import AT_START
from tb_slowdown_plugin.analysis.report_types.causes import Unexplained
from tb_slowdown_plugin.analysis.text.wording import duration, rises
from tb_slowdown_plugin.analysis.types import UNEXPLAINED, Finding
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.catalog.parameters.stats import LATEST_WARM_UP_END
from tb_slowdown_plugin.records.types import Float

_REST: Final = "no measured signal accounts for it"


def find_change_points(
    case: Case,
    claims: Sequence[Claim],
    rest: tuple[Finding, ...],
    per_cause: Mapping[str, Float],
) -> Iterable[tuple[int, str]]:
    """The end of the warm-up, and what `label_changes` says of each cause and of the rest.

    Args:
      case: of the run.
      claims: the causes.
      rest: findings that no cause explains.
      per_cause: (S,) seconds that each of them, and "unexplained", lost in each step.
    """
    if case.diagnosis.warm_up_rows:
        yield _end_of_warm_up(case, claims), "Warm-up ends"
    found = [*((claim.cause, claim.findings) for claim in claims), (UNEXPLAINED, rest)]
    yield from label_changes(case, found, per_cause)


def _end_of_warm_up(case: Case, claims: Iterable[Claim]) -> int:
    """First row after it: a first pass that waits lasts longer than the first calls.

    A function that is first traced far later is no reason to call what lies between warm-up.
    """
    latest = int(LATEST_WARM_UP_END * len(case.run.steps))
    ends = [
        int(early[-1]) + 1
        for claim in claims
        if claim.cause == "warm_up"
        for finding in claim.findings
        if finding.pattern == "warm_up"
        and len(early := np.flatnonzero(finding.lost_per_step[: latest + 1]))
    ]
    return min(max(case.diagnosis.warm_up_rows, *ends, 0), len(case.run.steps) - 1)


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


def describe_unexplained(case: Case, rest: tuple[Finding, ...], lost: Float) -> Unexplained | None:
    """The pattern of most of the unexplained seconds, with the step at which it begins.

    Args:
      case: gives steps their numbers.
      rest: the findings that no rule has claimed.
      lost: (S,) unexplained seconds of each step.
    """
    if not rest:
        return None
    main = largest(rest)
    if main.lost_seconds < MAJORITY * lost.sum() or main.numbers.get(AT_START):
        return None
    first, last = main.rows
    ends = last + 1 < len(lost)
    where = f"In {case.steps_text(main.rows)}" if ends else f"Since {case.step_text(first)}"
    if main.pattern == "level_shift" and (more := rise_of(case, main, lost)) > 0:
        text = f"{where} a step takes {duration(more)} more, and {_REST}."
    elif main.pattern == "drift":
        text = f"{where} steps keep getting slower, and {_REST}."
    else:
        return None
    return Unexplained(main.pattern, case.steps((first, last)), text)


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
