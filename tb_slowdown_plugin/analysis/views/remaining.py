"""How long a run still takes, and what of it its present losses cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.planned_steps import StepsLeft, find_steps_left
from tb_slowdown_plugin.analysis.report_types.live import Remaining
from tb_slowdown_plugin.analysis.text.wording import counted, duration
from tb_slowdown_plugin.analysis.types import Finding, sum_per_step
from tb_slowdown_plugin.catalog.parameters.shared import TELLING
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

_MIN_ROWS: Final = 10
"""Steps whose mean is taken for what the others take."""
_PASSING: Final = ("warm_up", "one_off")
"""Patterns of losses that don't go on."""
_CHANGES: Final = ("level_shift", "drift")


def find_remaining(run: Run, findings: Iterable[Finding], warm_up_rows: int) -> Remaining | None:
    """Finds what a run still takes if it goes on as it does now.

    Its newest level counts, with the saves and validations in it, without warm-up and one-offs.

    Args:
      run: The run.
      findings: All that it loses.
      warm_up_rows: Rows before it was steady.

    Returns:
      None where the program didn't say how many steps there are, where all are done, and where
      too few steps show what one takes.
    """
    left = find_steps_left(run)
    size = len(run.steps)
    if left is None or size - warm_up_rows < _MIN_ROWS:
        return None
    losses = list(findings)
    passing = [finding for finding in losses if finding.pattern in _PASSING]
    lasting = [finding for finding in losses if finding.pattern not in _PASSING]
    seconds = np.nan_to_num(run.steps.period_seconds, posinf=0.0) - sum_per_step(passing, size)
    rows = np.arange(size) >= min(_newest_level(lasting, size, warm_up_rows), size - _MIN_ROWS)
    total = _extend(seconds, rows, left)
    lost = min(_extend(sum_per_step(lasting, size), rows, left), total)
    steps = round(left.rows * run.steps_per_row)
    return Remaining(steps, total, lost, _describe(steps, total, lost, left))


def _newest_level(lasting: Iterable[Finding], size: int, first: int) -> int:
    """The row since which steps take what they take now; of a growth, its newer half."""
    for finding in lasting:
        if finding.pattern in _CHANGES:
            begins, ends = finding.rows
            is_over = ends < size - _MIN_ROWS
            if finding.pattern == "drift" and not is_over:
                begins = (begins + size) // 2
            first = max(first, ends + 1 if is_over else begins)
    return first


def _extend(seconds: Float, rows: np.ndarray, left: StepsLeft) -> float:
    """Seconds of what is left, if it goes on as in these rows."""
    is_end = np.zeros(len(seconds), bool)
    is_end[[row for row in left.end_rows if row < len(seconds)]] = True
    inside = rows & ~is_end
    usual = float(seconds[inside].mean()) if inside.any() else float(seconds[rows].mean())
    ends = seconds[rows & is_end] if (rows & is_end).any() else seconds[is_end]
    per_end = max(0.0, float(np.median(ends)) - usual) if len(ends) else 0.0
    return max(0.0, left.rows * usual + left.ends * per_end)


def _describe(steps: int, total: float, lost: float, left: StepsLeft) -> str:
    """The estimate in words.

    >>> _describe(1250, 740.0, 190.0, StepsLeft(1250))
    'About 12 min 20 s left (1,250 steps), 3 min 10 s of it for what is lost now.'
    """
    of = " of this `fit`" if left.is_part else ""
    text = f"About {duration(total)} left{of} ({counted(steps, 'step')})"
    is_telling = lost >= TELLING * total
    return f"{text}, {duration(lost)} of it for what is lost now." if is_telling else f"{text}."
