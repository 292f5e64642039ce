"""What steps take longer, the longer a gradient tape is open around them.

Each gradient goes back through all that the tape has recorded so far, or Python keeps it alive, so
steps rise while it is open, and start over with the next tape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tb_slowdown_plugin.analysis.prepare.step_kinds import EAGER_GRADIENTS
from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.analysis.stats.cycles import Cycle, find_cycles
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import OPEN_TAPE
from tb_slowdown_plugin.catalog.parameters.shared import NEARLY_ALL, SERIES, SEVERAL, TELLING
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float


def with_open_tapes(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for the tape in whose time the steps rise again and again.

    Args:
      run: The recording.
      measured: Account -> (S,) exclusive seconds; what is in none is the step's own work.
    """
    made = dict(measured)
    told = run.facts(OPEN_TAPE)
    if not told or np.mean(run.steps.ran & EAGER_GRADIENTS > 0) < NEARLY_ALL:
        return made
    own = left_over(run, measured)
    times = np.maximum(own, np.finfo(float).tiny)
    cycles = find_cycles(times, fewest=SERIES, least_falls=1)  # the tape's age tells them, too
    if _begin_with_tapes(run, cycles):
        seconds = np.zeros(len(own))
        for each in cycles:
            inside = slice(each.first, each.end)
            first = median(own[each.first : each.first + SEVERAL])
            seconds[inside] = np.maximum(own[inside] - first, 0.0)
        _, oldest = max(told, key=lambda event: event[1].numbers["age_steps"])
        made[names.account(names.OPEN_TAPE, oldest.subject)] = seconds
    return made


def _begin_with_tapes(run: Run, cycles: Sequence[Cycle]) -> bool:
    """Whether the age of the oldest tape, where it was sampled, is how far its cycle has come."""
    values = run.signals.values.get("oldest_tape_steps")
    if values is None or not cycles:
        return False
    known = ~np.isnan(values)
    rows, ages = run.signals.row[known], values[known]
    firsts = np.array([each.first for each in cycles])
    cycle = np.searchsorted(firsts, rows, side="right") - 1
    ends = np.array([each.end for each in cycles])
    inside = (cycle >= 0) & (rows < ends[cycle])
    since = (rows - firsts[cycle])[inside]
    ages = ages[inside]
    if len(ages) < SERIES or not (ages.std() > 0 and since.std() > 0):
        return False
    agree = np.abs(ages - since) <= 1 + TELLING * since  # a fall may be seen a step late
    return bool(agree.mean() >= NEARLY_ALL)
