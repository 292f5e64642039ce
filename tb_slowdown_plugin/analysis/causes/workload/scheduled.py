"""Work that comes every so many steps and stays as it was: the program's plan, and no loss.

That includes what the loop does between the last step of an epoch and the first of the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import CORE, Case, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, working_rows
from tb_slowdown_plugin.analysis.ledger.findings import make_finding
from tb_slowdown_plugin.analysis.prepare.workers import find_group
from tb_slowdown_plugin.analysis.report_types.causes import Suspect
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import counted, duration, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.parameters.causes import LONGEST_RHYTHM
from tb_slowdown_plugin.catalog.parameters.ledger import (
    INPUT_FLOOR,
    UNEXPLAINED_FLOOR,
)
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, MOSTLY, NEGLIGIBLE, SEVERAL
from tb_slowdown_plugin.records.types import Float, Int

_HINT: Final = 'Mark it with `tbslow.summary.phase("...")` to see it by name.'


def split_planned(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(planned, the rest) of the findings that no rule has claimed.

    Gradients that are applied every fourth step, or a line of the log every hundredth, cost the
    same from the first step to the last: the run did not get slower by them. Nor did it by
    what its loop does between two epochs, as long as that stays alike.

    Args:
      case: its findings are those that no rule has claimed.
    """
    return case.part(finding for finding in case.core() if _is_planned(case, finding))


def split_growth(case: Case) -> tuple[Finding, ...]:
    """The findings, of which those that grow by a count of steps are parted in two.

    What such work takes at first is the plan's, what it takes beyond that later is growth.

    Args:
      case: with findings that no rule has been asked about.
    """
    return tuple(part for finding in case.findings for part in _parts(case, finding))


def _parts(case: Case, finding: Finding) -> tuple[Finding, ...]:
    by_count = finding.source == CORE and finding.numbers.get("period_steps")
    lost = finding.lost_per_step
    rows = working_rows(lost)
    rows = rows[rows >= case.diagnosis.warm_up_rows]
    tenth = len(rows) // 10
    if finding.pattern != "periodic" or not by_count or not tenth:
        return (finding,)
    base = np.minimum(lost, float(np.median(lost[rows[:tenth]])))
    if not grows(lost[rows]) or base.sum() < MATTERS * lost.sum():
        return (finding,)
    return tuple(
        make_finding(CORE, "periodic", part, finding.confidence, dict(finding.numbers))
        for part in (lost - base, base)
    )


def _is_planned(case: Case, finding: Finding) -> bool:
    """Whether it comes by a count of steps, or of epochs, and stays alike to the end."""
    if lies_between_epochs(case, finding):
        return stays_alike(case, finding)
    period = finding.numbers.get("period_steps")
    rows = working_rows(finding.lost_per_step)
    if finding.pattern != "periodic" or not period or len(rows) < 2:
        return False
    steps = len(case.run.steps)
    # From as much on as would be too long a wait for data it is told as a loss, however often.
    most = INPUT_FLOOR if period <= LONGEST_RHYTHM else UNEXPLAINED_FLOOR
    if case.wall_share(finding.lost_seconds) >= most:
        return False
    absent = max(NEGLIGIBLE * steps, 2 * period)
    start = case.diagnosis.warm_up_rows
    if rows[0] > start + absent or rows[-1] < steps - 1 - absent:
        return False
    # A timer, a collector or a disk that is about regular counts no steps.
    if np.any(np.diff(rows) % period):
        return False
    return not grows(finding.lost_per_step[rows[rows >= start]])


def tell_planned(case: Case, planned: tuple[Finding, ...]) -> Iterable[str]:
    """What the plan costs, for who would rather have it less often."""
    yield from tell_between(case, planned)
    for finding in planned:
        if finding.pattern != "periodic":
            continue
        rows = working_rows(finding.lost_per_step)
        each = float(np.median(finding.lost_per_step[rows]))
        longer = f"{duration(each)} longer {cadence(rows, len(case.run.steps))}"
        total = (
            f"{duration(lost_seconds((finding,)))}, "
            f"{percent(case.wall_share(finding.lost_seconds))} of the run"
        )
        if _is_communicating(case, rows, each):
            yield (
                f"The all-reduce itself takes {longer} on all workers ({total}). It has been "
                "constant, so it isn't counted as lost."
            )
            continue
        yield (
            f"A step takes {longer} throughout the run ({total}). This looks scheduled (gradient "
            "accumulation, logging) and isn't counted as lost. Mark it with a `phase` or `kind` "
            "to see it by name."
        )


def _is_communicating(case: Case, rows: Int, each_seconds: float) -> bool:
    """Whether these steps are longer because the all-reduce itself is."""
    group = find_group(case.run)
    if group is None:
        return False
    usual = float(np.median(np.delete(group.price, rows)))
    return float(np.median(group.price[rows])) - usual >= MOSTLY * each_seconds


def lies_between_epochs(case: Case, finding: Finding) -> bool:
    """Whether a finding is work of the loop's own before the first step of each epoch."""
    rows = _first_rows(case, finding)
    if finding.pattern != "epoch_boundary" or not len(rows):
        return False
    steps = case.run.steps
    period, inside = _finite(steps.period_seconds[rows]), steps.inside_seconds[rows]
    outside = np.where(np.isfinite(inside), period - inside, 0.0)
    for seconds in steps.accounts.values():
        outside -= _finite(seconds[rows])
    return float(np.median(outside)) >= MOSTLY * float(np.median(finding.lost_per_step[rows]))


def stays_alike(case: Case, finding: Finding) -> bool:
    """Whether such work is a small part of the run, as much in its later epochs as at first.

    Validation, a log or a shuffle of one's own is what many loops do there: as long as it
    does not grow, the run did not get slower by it. From as much on as would be too long a
    wait for data it is told as a loss, whatever it is.
    """
    lost = finding.lost_per_step[_first_rows(case, finding)]
    if len(lost) < SEVERAL or case.wall_share(finding.lost_seconds) >= INPUT_FLOOR:
        return False
    return not grows(lost)


def tell_between(case: Case, findings: Iterable[Finding]) -> Iterable[str]:
    """What such work costs, where it is no loss."""
    for finding in findings:
        if lies_between_epochs(case, finding):
            total = float(finding.lost_per_step[_first_rows(case, finding)].sum())
            yield (
                f"{_tell(case, finding)}: {duration(total)}, {percent(case.wall_share(total))} of "
                "the run. It doesn't grow, so it isn't counted as lost: validation, logging, or a "
                f"dataset that is re-created. {_HINT}"
            )


def suspect_between(case: Case) -> Suspect | None:
    """The same where it is a loss that no rule has claimed."""
    for finding in case.core():
        if lies_between_epochs(case, finding):
            return Suspect(
                "input_pipeline",
                finding.lost_seconds,
                f"{_tell(case, finding)}: a dataset that is re-created for each epoch, or other "
                f"work of the loop. {_HINT}",
            )
    return None


def _tell(case: Case, finding: Finding) -> str:
    rows = _first_rows(case, finding)
    each = float(np.mean(finding.lost_per_step[rows]))
    return (
        f"{counted(len(rows), 'epoch begins', 'epochs begin')} with {duration(each)} of work on "
        "average between two steps, outside `step()` and outside input wait"
    )


def _first_rows(case: Case, finding: Finding) -> Int:
    """The rows that lose it, after the warm-up: of the very first nothing is known."""
    rows = np.flatnonzero(finding.lost_per_step)
    return rows[rows >= case.diagnosis.warm_up_rows]


def _finite(seconds: Float) -> Float:
    return np.nan_to_num(seconds, posinf=0.0, neginf=0.0)
