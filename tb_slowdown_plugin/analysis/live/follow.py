"""Judges a run that still grows: analyzed look after look, and carried on in between."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.live.confirming import is_by_others, tell_pending, tell_slowing
from tb_slowdown_plugin.analysis.live.hysteresis import LiveState, confirm
from tb_slowdown_plugin.analysis.live.recent_contention import others_took
from tb_slowdown_plugin.analysis.live.recent_pace import find_slowing
from tb_slowdown_plugin.analysis.report_builder.account import account_for, assemble, open_case
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

HEALTHY: Final = "healthy"
_RECENT_ROWS: Final = 1000
"""Rows before the new ones that say how a run goes on: enough for a mean of what comes
every hundredth step, few enough to follow a drift."""


def follow(run: Run, before: LiveState | None) -> tuple[RunAccount, LiveState]:
    """Judges a growing run as a finished one, and says what of it is not confirmed yet.

    Args:
      run: As far as it has come.
      before: What the look before returned; None at the first.

    Returns:
      Its account, and what to hand in at the next look. In the account, seconds that are not
      confirmed are unexplained, and `Report.confirming` says so.
    """
    if run.drawn_from is not None:  # points are few, and come as seldom as an analysis
        return account_for(run), LiveState(len(run.steps), ())
    case = open_case(run)
    if before is not None:
        before = before.in_rows_of(run.steps_per_row)
    result = confirm(case.diagnosis, run.steps.number, before)
    account = assemble(case)
    is_lost = account.report.verdict == "slowdown" or is_by_others(result, account)
    if result.pending and is_lost:
        kept = replace(case, diagnosis=result.diagnosis, findings=result.diagnosis.findings)
        account = tell_pending(run, result, assemble(kept, result.pending), account)
    else:
        slowing = find_slowing(run, case.diagnosis)
        if slowing is not None:
            excess = float(slowing.excess_per_step.sum())
            by_others = others_took(run, slowing.first_row, excess)
            account = tell_slowing(run, account, slowing, by_others=by_others)
    report = replace(
        account.report,
        steps=account.report.steps * run.steps_per_row,
        notes=account.report.notes + result.state.withdrawn,
    )
    return replace(account, report=report), replace(result.state, steps_per_row=run.steps_per_row)


def carry_on(run: Run, account: RunAccount) -> dict[str, Float]:
    """Books the newest steps of a run as those just before them, until the next analysis.

    What was found goes on: the new steps lose what they take beyond the healthy time
    of the last 1,000 rows, at most as much as those lost, and to the same causes.
    Takes time for the new rows only.

    Args:
      run: With at least the rows of `account`, at the same steps a row.
      account: What an analysis, or this function, said of the rows before.

    Returns:
      "healthy", cause ids, and "unexplained" -> (N,) seconds of the new rows, which add up to
      the period of each.
    """
    known = len(account.healthy_per_step)
    period = np.maximum(np.nan_to_num(run.steps.period_seconds[known:], posinf=0.0), 0.0)
    seconds = float(period.sum())
    recent = slice(max(0, known - _RECENT_ROWS), known)
    rates = {cause: _mean(column[recent]) for cause, column in account.lost_per_step.items()}
    rate = sum(rates.values())
    beyond = seconds - len(period) * _mean(account.healthy_per_step[recent])
    lost_share = min(max(beyond, 0.0), len(period) * rate) / seconds if seconds > 0 else 0.0
    columns = {
        cause: period * (lost_share * (each / rate if rate > 0 else 0.0))
        for cause, each in rates.items()
    }
    return {HEALTHY: period * (1.0 - lost_share), **columns}


def _mean(values: Float) -> float:
    return float(values.mean()) if len(values) else 0.0
