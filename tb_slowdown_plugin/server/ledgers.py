"""What a step of each run costs, for comparisons; made once an analysis."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, ledger_of
from tb_slowdown_plugin.server.params import ParameterError, shown
from tb_slowdown_plugin.server.runs import Analysis

_MOST: Final = 1_000
"""About 1 KB each; making one of 1,000,000 steps takes 30 to 60 ms."""


class Ledgers:
    """Ledgers by analysis, for many threads; the oldest are dropped."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, RunLedger] = OrderedDict()

    def of(self, analysis: Analysis) -> RunLedger:
        """The ledger of a run.

        Raises:
          ParameterError: The run has no step.
        """
        with self._lock:
            kept = self._kept.get(analysis.number)
        if kept is not None:
            return kept
        if not len(analysis.run.steps):
            raise ParameterError(
                f"run {shown(analysis.run.name)} has no step yet; compare runs that have some"
            )
        made = ledger_of(analysis.run, analysis.account)
        with self._lock:
            self._kept[analysis.number] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made
