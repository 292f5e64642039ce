"""Work that comes every so many steps and stays as it was: the program's plan, and no loss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.rules.between_epochs import (
    lies_between_epochs,
    stays_alike,
    tell_between,
)
from tb_slowdown_plugin.analysis.rules.case import Case, lost_seconds
from tb_slowdown_plugin.analysis.rules.patterns import cadence, growth, working_rows
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.analysis.wording import duration, percent

_GROWS: Final = 1.25
"""Last quarter over first from which it is no longer the same work: a choice. On four cores
with a load of 5, gradients that were applied every fourth step went down to 0.6."""
_ABSENT: Final = 0.05
"""Share of the steps that it may be absent from at either end: what begins later, or is over,
is a change that somebody should look at."""


def split_planned(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(planned, the rest) of the findings that no rule has claimed.

    Gradients that are applied every fourth step, or a line of the log every hundredth, cost the
    same from the first step to the last: the run did not get slower by them. Nor did it by
    what its loop does between two epochs, as long as that stays alike.

    Args:
      case: its findings are those that no rule has claimed.
    """
    planned = tuple(finding for finding in case.core() if _is_planned(case, finding))
    ids = {id(finding) for finding in planned}
    return planned, tuple(finding for finding in case.findings if id(finding) not in ids)


def _is_planned(case: Case, finding: Finding) -> bool:
    """Whether it comes by a count of steps, or of epochs, and stays alike to the end."""
    if lies_between_epochs(case, finding):
        return stays_alike(case, finding)
    period = finding.numbers.get("period_steps")
    rows = working_rows(finding.lost_per_step)
    if finding.pattern != "periodic" or not period or len(rows) < 2:
        return False
    steps = len(case.run.steps)
    absent = max(_ABSENT * steps, 2 * period)
    start = case.diagnosis.warm_up_rows
    if rows[0] > start + absent or rows[-1] < steps - 1 - absent:
        return False
    # A timer, a collector or a disk that is about regular counts no steps.
    if np.any(np.diff(rows) % period):
        return False
    return growth(finding.lost_per_step[rows[rows >= start]]) < _GROWS


def tell_planned(case: Case, planned: tuple[Finding, ...]) -> Iterable[str]:
    """What the plan costs, for who would rather have it less often."""
    yield from tell_between(case, planned)
    for finding in planned:
        if finding.pattern != "periodic":
            continue
        rows = working_rows(finding.lost_per_step)
        each = float(np.median(finding.lost_per_step[rows]))
        yield (
            f"A step takes {duration(each)} longer {cadence(rows, len(case.run.steps))}, alike "
            f"from the start to the end: {duration(lost_seconds((finding,)))}, "
            f"{percent(case.wall_share(finding.lost_seconds))} of the run. That is taken for the "
            "program's plan, such as gradients that are applied or a log that is written then, "
            "and is no loss; with a phase or a kind of its own it is told by name."
        )
