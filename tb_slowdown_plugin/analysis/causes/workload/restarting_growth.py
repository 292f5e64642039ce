"""Steps that take longer and longer within a cycle, and start over with the next.

It may be the data, such as sequences sorted by their length, or a history that is part of the
model. It may also be what the program keeps for an epoch and lets go at its end. Nothing in a
record tells which, so it is told and not counted as lost.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.prepare.work import measure_work
from tb_slowdown_plugin.analysis.report_types.observations import RestartingGrowth
from tb_slowdown_plugin.analysis.stats.cycles import find_cycles
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.analysis.text.wording import counted, duration, percent
from tb_slowdown_plugin.catalog.parameters.shared import SEVERAL, TELLING


def tell_restarting_growth(case: Case, growth: RestartingGrowth | None) -> Iterable[str]:
    """In which cycles, by how much, and what to look for."""
    if growth is not None:
        yield (
            f"Within {_describe(growth)}. Beyond the first steps of each cycle that is "
            f"{duration(growth.above_seconds)} "
            f"({percent(case.wall_share(growth.above_seconds))} of the run). It isn't counted as "
            "lost, as steps on ever longer data look alike. If the data is alike, look for what "
            "the program keeps and lets go at the end of a cycle: a list, a tape that stays open, "
            "the state of a metric."
        )


def tell_restarting_growth_shortly(growth: RestartingGrowth | None) -> str:
    """The same for a headline; "" where there is none."""
    return "" if growth is None else f"But within {_describe(growth)}."


def _describe(growth: RestartingGrowth) -> str:
    return (
        f"each of {growth.cycles} cycles of about {counted(growth.steps, 'step')}, step time grows "
        f"from {duration(growth.first_seconds)} to {duration(growth.last_seconds)} and starts over"
    )


def find_restarting_growth(case: Case) -> RestartingGrowth | None:
    """Of what isn't lost, as multiples of what a step of its kind and size usually takes."""
    seconds = case.diagnosis.healthy_per_step
    if len(seconds) <= case.diagnosis.warm_up_rows:
        return None
    comparable = case.comparable
    usual = measure_work(seconds, case.diagnosis.warm_up_rows, comparable.kind, comparable.items)
    known = (usual > 0) & (seconds > 0)
    cycles = find_cycles(np.where(known, seconds / np.where(known, usual, 1.0), 1.0))
    if not cycles:
        return None
    firsts = [median(seconds[each.first : each.first + SEVERAL]) for each in cycles]
    lasts = [median(seconds[each.end - SEVERAL : each.end]) for each in cycles]
    above = sum(
        float(np.maximum(seconds[each.first : each.end] - first, 0).sum())
        for each, first in zip(cycles, firsts, strict=True)
    )
    if case.wall_share(above) < TELLING:
        return None
    steps = median(np.array([each.end - each.first for each in cycles], float))
    return RestartingGrowth(
        len(cycles), round(steps), median(np.array(firsts)), median(np.array(lasts)), above
    )
