"""What the loop does between the last step of an epoch and the first of the next."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.text.wording import counted, duration, percent
from tb_slowdown_plugin.analysis.types import Finding, Suspect
from tb_slowdown_plugin.catalog.accounts import INPUT_FLOOR
from tb_slowdown_plugin.records.types import Float, Int

_OUTSIDE: Final = 0.7
"""Share of a loss that must lie between two steps to be called so."""
_GROWS: Final = 1.25
"""Later half over first from which it is no longer the same work: a choice."""
_FEWEST: Final = 4
"""Epochs from which that is told."""
_HINT: Final = '`with tbslow.summary.phase("...")` around it tells which.'


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
    return float(np.median(outside)) >= _OUTSIDE * float(np.median(finding.lost_per_step[rows]))


def stays_alike(case: Case, finding: Finding) -> bool:
    """Whether such work is a small part of the run, as much in its later epochs as at first.

    Validation, a log or a shuffle of one's own is what many loops do there: as long as it
    does not grow, the run did not get slower by it. From as much on as would be too long a
    wait for data it is told as a loss, whatever it is.
    """
    lost = finding.lost_per_step[_first_rows(case, finding)]
    if len(lost) < _FEWEST or case.wall_share(finding.lost_seconds) >= INPUT_FLOOR:
        return False
    half = len(lost) // 2
    return float(np.median(lost[-half:])) < _GROWS * float(np.median(lost[:half]))


def tell_between(case: Case, findings: Iterable[Finding]) -> Iterable[str]:
    """What such work costs, where it is no loss."""
    for finding in findings:
        if lies_between_epochs(case, finding):
            total = float(finding.lost_per_step[_first_rows(case, finding)].sum())
            yield (
                f"{_tell(case, finding)}: {duration(total)}, {percent(case.wall_share(total))} of "
                "the run. As it does not grow it is no loss: validation, a log, a dataset that is "
                f"made anew, or whatever else the loop does there. {_HINT}"
            )


def suspect_between(case: Case) -> Suspect | None:
    """The same where it is a loss that no rule has claimed."""
    for finding in case.core():
        if lies_between_epochs(case, finding):
            return Suspect(
                "input_pipeline",
                finding.lost_seconds,
                f"{_tell(case, finding)}: a dataset that is made anew for each epoch, or whatever "
                f"else the loop does there. {_HINT}",
            )
    return None


def _tell(case: Case, finding: Finding) -> str:
    rows = _first_rows(case, finding)
    each = float(np.mean(finding.lost_per_step[rows]))
    return (
        f"{counted(len(rows), 'epoch begins', 'epochs begin')} with {duration(each)} of work on "
        "average between two steps, outside of `step()` and of asking for a batch"
    )


def _first_rows(case: Case, finding: Finding) -> Int:
    """The rows that lose it, after the warm-up: of the very first nothing is known."""
    rows = np.flatnonzero(finding.lost_per_step)
    return rows[rows >= case.diagnosis.warm_up_rows]


def _finite(seconds: Float) -> Float:
    return np.nan_to_num(seconds, posinf=0.0, neginf=0.0)
