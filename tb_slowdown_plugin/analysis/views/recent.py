"""What a step takes at the end of a run."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.report_types.live import Recent
from tb_slowdown_plugin.catalog.parameters.shared import NEGLIGIBLE
from tb_slowdown_plugin.records.run import Run

_SHARE: Final = 0.05
_MIN_ROWS: Final = 20
_MIN_SHARES: Final = 5
"""A run of fewer times so many rows has no end that is apart from the rest."""


def find_recent(run: Run) -> Recent | None:
    """The median over the last twentieth of the run, at least 20 steps; None in shorter runs."""
    period = run.steps.period_seconds
    if len(period) < _MIN_SHARES * _MIN_ROWS:
        return None
    rows = max(_MIN_ROWS, math.ceil(_SHARE * len(period)))
    known = period[-rows:][np.isfinite(period[-rows:])]
    return Recent(float(np.median(known)), rows * run.steps_per_row) if len(known) else None


def keeps_pace(recent: Recent | None, healthy_seconds: float) -> bool:
    """Whether recent steps take as long as healthy ones; longer ones may do more work.

    Example:
      >>> keeps_pace(Recent(0.0102, 20), 0.01), keeps_pace(Recent(0.012, 20), 0.01)
      (True, False)
    """
    if recent is None or not np.isfinite(healthy_seconds):
        return True
    return recent.seconds < (1 + NEGLIGIBLE) * healthy_seconds
