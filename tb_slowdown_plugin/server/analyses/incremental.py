"""A run that grows is analysed now and then, and its account carried on in between.

How often it is analysed again is measured, so that looking at it costs next to nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.live.follow import HEALTHY, carry_on
from tb_slowdown_plugin.analysis.prepare.run_stalls import open_stall
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.reader.build.columns import GrowingColumns
from tb_slowdown_plugin.records.run import Run

_MIN_ROWS: Final = 8

_PACE_CHANGE: Final = 1.1
"""Ratio of medians from which new steps are news for an analysis. Chosen by hand; a false alarm
costs one analysis."""

REST: Final = 20.0
"""After an analysis that took t seconds there is none for 20 t: 5% of a core for each run, of
the page, the table of all runs, and `tbslow watch` alike."""

_LONG_SECONDS: Final = 0.05
"""An analysis that takes longer keeps no request waiting."""

_URGENT_REST: Final = 4.0
"""The same while there is news: steps take another time, or a cause waits to be confirmed."""

_URGENT_WAIT_SECONDS: Final = 1.0
"""For news a request waits this long."""


class GrowingAccount:
    """Grows with its run in time for the new rows only. Not thread-safe.

    The columns grow, for the timeline. The report stays that of the analysis, so that its
    headline, sums, and causes are of one snapshot: `Report.as_of`.

    Args:
      run: As far as it was analyzed.
      account: Its account.
    """

    def __init__(self, run: Run, account: RunAccount) -> None:
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

        Also where a stall has begun or ended, and where only an analysis can carry the account on.
        """
        if not self._goes_on(run) or _is_stalled(run) != (self.account.report.stall is not None):
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

    def _with_columns(self, account: RunAccount) -> RunAccount:
        columns = self._columns.views()
        healthy = columns.pop(HEALTHY)
        return replace(account, healthy_per_step=healthy, lost_per_step=columns)


def _is_stalled(run: Run) -> bool:
    return open_stall(run) is not None


def _place(run: Run, row: int) -> tuple[int, float]:
    """What tells a row from others: its step and its end."""
    if row < 0:
        return -1, 0.0
    return int(run.steps.number[row]), float(run.steps.ended[row])


class Pace:
    """How long the analyses of each run take, and which of them rest now.

    Args:
      clock: Seconds. If it is set back, nothing rests.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[str, tuple[float, float]] = {}
        """Run -> when its last analysis ended, and the seconds that it took."""

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        """Surrounds an analysis of a run."""
        began = self._clock()
        yield
        ended = self._clock()
        with self._lock:
            self._last[name] = (ended, ended - began)

    def rests(self, name: str, *, is_urgent: bool = False) -> bool:
        """Whether the run was analyzed too short a time ago.

        Args:
          name: Of the run.
          is_urgent: Whether there is news.
        """
        ended, took = self._last.get(name, (-float("inf"), 0.0))
        rest = _URGENT_REST if is_urgent else REST
        return 0.0 <= self._clock() - ended < rest * took

    def is_long(self, name: str, *, is_urgent: bool = False) -> bool:
        """Whether to analyze the run takes longer than a request may wait."""
        limit = _URGENT_WAIT_SECONDS if is_urgent else _LONG_SECONDS
        return self._last.get(name, (0.0, 0.0))[1] > limit

    def keep_only(self, names: Container[str]) -> None:
        """Forget runs that are gone."""
        with self._lock:
            self._last = {name: last for name, last in self._last.items() if name in names}
