"""How much of what the newest steps take longer, other processes have taken.

Their part is named from a share of the whole run on. In a long run that is minutes, in which the
newest steps would be called the program's own slowdown.
"""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.ledger.contention import find_contention
from tb_slowdown_plugin.analysis.prepare.recorded_run import contention_signals
from tb_slowdown_plugin.analysis.prepare.steps import prepare_steps
from tb_slowdown_plugin.catalog.accounts import THROTTLED
from tb_slowdown_plugin.catalog.parameters.shared import MOSTLY
from tb_slowdown_plugin.records.run import Run


def others_took(run: Run, first_row: int, excess_seconds: float) -> bool:
    """Whether other processes took most of what the steps from a row on take too long.

    Args:
      run: A live run.
      first_row: The first of its newest, slower steps.
      excess_seconds: What these steps take above the baseline, in all.
    """
    table = run.steps
    steps = prepare_steps(
        table.period_seconds, table.accounts, None, cpu_seconds=table.process_cpu_seconds
    )
    cpu = steps.cpu_seconds
    wall = float(steps.seconds[first_row:].sum())
    cores = run.environment.limits.get("cpu_count", np.inf)
    if first_row <= 0 or (cpu is not None and cpu[first_row:].sum() >= MOSTLY * cores * wall):
        return False
    contended = np.zeros(len(steps))
    for account, seconds in find_contention(steps, contention_signals(run)).items():
        if account != THROTTLED:
            contended = contended + seconds
    usual = float(contended[:first_row].mean())
    return float((contended[first_row:] - usual).sum()) >= MOSTLY * excess_seconds > 0
