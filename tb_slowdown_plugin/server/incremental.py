"""The account of a run that still runs, carried on with its newest steps between analyses."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.live.follow import HEALTHY, carry_on
from tb_slowdown_plugin.analysis.types import Account
from tb_slowdown_plugin.reader.build.columns import GrowingColumns
from tb_slowdown_plugin.records.types import Run

_MIN_ROWS: Final = 8
_PACE_CHANGE: Final = 1.1
"""Ratio of medians from which new steps are news for an analysis. Chosen by hand; a false alarm
costs one analysis."""


class GrowingAccount:
    """Grows with its run in time for the new rows only. Not thread-safe.

    The columns grow, for the timeline. The report stays that of the analysis, so that its
    headline, sums, and causes are of one snapshot: `Report.as_of`.

    Args:
      run: As far as it was analyzed.
      account: Its account.
    """

    def __init__(self, run: Run, account: Account) -> None:
        self._columns = GrowingColumns()
        self._steps_per_row = run.steps_per_row
        self._judged = len(account.healthy_per_step)
        self._last = _place(run, self._judged - 1)
        columns = {HEALTHY: account.healthy_per_step, **account.lost_per_step}
        self._columns.append(self._judged, columns, 0.0)
        self.account = self._with_columns(account)

    def grow(self, run: Run) -> bool:
        """Carry `account` on to the end of the run; False if only an analysis can.

        That is so where records came late, so that the rows before are others.
        """
        rows = self._columns.rows
        if not self._goes_on(run):
            return False
        added = len(run.steps) - rows
        if added:
            self._columns.append(added, carry_on(run, self.account), 0.0)
            self._last = _place(run, len(run.steps) - 1)
            self.account = self._with_columns(self.account)
        return True

    def has_news(self, run: Run) -> bool:
        """Whether steps since the analysis take another time than those just before.

        Also where only an analysis can carry the account on.
        """
        if not self._goes_on(run):
            return True
        new = run.steps.period_seconds[self._judged :]
        before = run.steps.period_seconds[max(0, self._judged - len(new)) : self._judged]
        if min(len(new), len(before)) < _MIN_ROWS:
            return False
        newest = new[-max(_MIN_ROWS, len(new) // 2) :]
        now, then = float(np.median(newest)), float(np.median(before))
        return now > _PACE_CHANGE * then or then > _PACE_CHANGE * now

    def _goes_on(self, run: Run) -> bool:
        rows = self._columns.rows
        return (
            len(run.steps) >= rows
            and run.steps_per_row == self._steps_per_row
            and _place(run, rows - 1) == self._last
        )

    def _with_columns(self, account: Account) -> Account:
        columns = self._columns.views()
        healthy = columns.pop(HEALTHY)
        return replace(account, healthy_per_step=healthy, lost_per_step=columns)


def _place(run: Run, row: int) -> tuple[int, float]:
    """What tells a row from others: its step and its end."""
    if row < 0:
        return -1, 0.0
    return int(run.steps.number[row]), float(run.steps.ended[row])
