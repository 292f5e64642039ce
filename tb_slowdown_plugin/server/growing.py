"""The account of a run that still runs, carried on with its newest steps between analyses."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tb_slowdown_plugin.analysis.live import carry_on
from tb_slowdown_plugin.analysis.types import Account
from tb_slowdown_plugin.reader.columns import GrowingColumns
from tb_slowdown_plugin.records.types import Run

_HEALTHY: Final = "healthy"


class GrowingAccount:
    """Grows with its run in time for the new rows only. Not thread-safe.

    Args:
      run: As far as it was analysed.
      account: What was said of it.
    """

    def __init__(self, run: Run, account: Account) -> None:
        self._columns = GrowingColumns()
        self._steps_per_row = run.steps_per_row
        columns = {_HEALTHY: account.healthy_per_step, **account.lost_per_step}
        self._columns.append(len(account.healthy_per_step), columns, 0.0)
        self.account = self._with_columns(account)

    def grow(self, run: Run) -> bool:
        """Carry `account` on to the end of the run; False if only an analysis can."""
        rows = self._columns.rows
        if len(run.steps) < rows or run.steps_per_row != self._steps_per_row:
            return False
        added = len(run.steps) - rows
        if added:
            more = carry_on(run, self.account)
            self._columns.append(
                added, {_HEALTHY: more.healthy_per_step, **more.lost_per_step}, 0.0
            )
            self.account = self._with_columns(replace(self.account, report=more.report))
        return True

    def _with_columns(self, account: Account) -> Account:
        columns = self._columns.views()
        healthy = columns.pop(_HEALTHY)
        return replace(account, healthy_per_step=healthy, lost_per_step=columns)
