"""What the accounts leave of each step: its own work, and whatever no clock has seen yet."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float


def left_over(run: Run, measured: Mapping[str, Float]) -> Float:
    """(S,) seconds of each step that are in no account, never below zero.

    Args:
      run: The recording.
      measured: Account -> (S,) exclusive seconds; what is unknown takes nothing.
    """
    taken = sum(zero_where_unknown(each) for each in measured.values())
    return np.maximum(run.steps.period_seconds - taken, 0.0)
