"""The account of a run that still runs: analysed look after look, and carried on in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.account import UNEXPLAINED, assemble, open_case
from tb_slowdown_plugin.analysis.announce import Watch, announce
from tb_slowdown_plugin.analysis.coverage import completeness
from tb_slowdown_plugin.analysis.types import Account, Report
from tb_slowdown_plugin.records.types import Float, Run

_RECENT_ROWS: Final = 1000
"""Rows before the new ones that say how a run goes on: enough for a mean of what comes
every hundredth step, few enough to follow a drift."""


def follow(run: Run, before: Watch | None) -> tuple[Account, Watch]:
    """Says of a growing run what lasted, and in its notes what is taken back.

    Args:
      run: As far as it has come.
      before: What the look before returned; None at the first, which tells what
        `account_for` tells.

    Returns:
      Its account, and what to hand in at the next look.
    """
    case = open_case(run)
    if before is not None:
        before = before.in_rows_of(run.steps_per_row)
    diagnosis, watch = announce(case.diagnosis, run.steps.number, before)
    account = assemble(replace(case, diagnosis=diagnosis, findings=diagnosis.findings))
    report = replace(
        account.report,
        steps=account.report.steps * run.steps_per_row,
        notes=account.report.notes + watch.taken_back,
    )
    return replace(account, report=report), replace(watch, steps_per_row=run.steps_per_row)


@dataclass(frozen=True, slots=True)
class Continuation:
    """What the rows since the last analysis add. `N` is their number."""

    report: Report
    """Of all rows, with their seconds."""
    healthy_per_step: Float
    """(N,) seconds."""
    lost_per_step: Mapping[str, Float]
    """Cause id (and "unexplained") -> (N,) seconds."""


def carry_on(run: Run, account: Account) -> Continuation:
    """Books the newest steps of a run as those just before them, until the next analysis.

    What was found goes on: the new steps lose what they take beyond the healthy time
    of the last 1,000 rows, at most as much as those lost, and to the same causes.
    Nothing new is found; that is for an analysis, which takes as long as the run.
    Takes time for the new rows only. In each of them healthy and lost seconds add up
    to its period.

    Args:
      run: With at least the rows of `account`, at the same steps a row.
      account: What an analysis, or this function, said of the rows before.
    """
    known = len(account.healthy_per_step)
    period = np.maximum(np.nan_to_num(run.steps.period_seconds[known:], posinf=0.0), 0.0)
    seconds = float(period.sum())
    recent = slice(max(0, known - _RECENT_ROWS), known)
    rates = {cause: _mean(column[recent]) for cause, column in account.lost_per_step.items()}
    rate = sum(rates.values())
    beyond = seconds - len(period) * _mean(account.healthy_per_step[recent])
    lost_share = min(max(beyond, 0.0), len(period) * rate) / seconds if seconds > 0 else 0.0
    lost = {
        cause: period * (lost_share * (each / rate if rate > 0 else 0.0))
        for cause, each in rates.items()
    }
    return Continuation(
        _add(account.report, run, len(period), seconds, lost), period * (1.0 - lost_share), lost
    )


def _add(report: Report, run: Run, rows: int, seconds: float, lost: Mapping[str, Float]) -> Report:
    """The report with the seconds of more rows; what it says in sentences stays as it was."""
    added = {cause: float(column.sum()) for cause, column in lost.items()}
    wall = report.wall_seconds + seconds
    causes = []
    for cause in report.causes:
        more = added.get(cause.cause, 0.0)
        lost_seconds = cause.lost_seconds + more
        steps = (cause.steps[0], int(run.steps.number[-1])) if more else cause.steps
        share = lost_seconds / wall if wall > 0 else 0.0
        causes.append(replace(cause, lost_seconds=lost_seconds, lost_fraction=share, steps=steps))
    lost_seconds = report.lost_seconds + sum(added.values())
    return replace(
        report,
        steps=report.steps + rows * run.steps_per_row,
        wall_seconds=wall,
        lost_seconds=lost_seconds,
        lost_fraction=lost_seconds / wall if wall > 0 else 0.0,
        unexplained_seconds=report.unexplained_seconds + added.get(UNEXPLAINED, 0.0),
        causes=tuple(sorted(causes, key=lambda cause: -cause.lost_seconds)),
        completeness=completeness(run),
    )


def _mean(values: Float) -> float:
    return float(values.mean()) if len(values) else 0.0
