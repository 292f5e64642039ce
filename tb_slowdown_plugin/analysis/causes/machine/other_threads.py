"""Growing Python work in another thread of the program, such as one that loads data."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, to_place
from tb_slowdown_plugin.analysis.causes.common.places import GrowingPlace, growing_threads
from tb_slowdown_plugin.analysis.causes.common.trend_tests import ends
from tb_slowdown_plugin.analysis.causes.machine import python_overhead_fixes
from tb_slowdown_plugin.analysis.text.wording import duration, percent
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY


def claim(case: Case) -> Claim | None:
    """Claims growth of the step beside a thread that computes at least half as much more."""
    claimed = tuple(each for each in case.core() if each.pattern in ("drift", "level_shift"))
    busier = growing_threads(case) if claimed else []
    if not busier:
        return None
    steps = case.run.steps
    rows = case.diagnosis.warm_up_rows, len(steps) - 1
    lost = ends(np.sum([each.lost_per_step for each in claimed], axis=0), rows)
    others = ends(steps.process_cpu_seconds - steps.thread_cpu_seconds, rows)
    least = MAJORITY * (lost[1] - lost[0])
    if not 0 < least <= min(others[1] - others[0], busier[0].rise_seconds):
        return None
    place = busier[0].place
    return Claim(
        "python_overhead",
        claimed,
        f"growing Python work in another thread, {place}",
        f"Another thread uses more CPU time in each step, in `{place}`. Only one thread "
        "runs Python at a time, and all of them share the cores.",
        (
            *tell_threads(busier),
            f"CPU time of the other threads went from {duration(others[0])} to "
            f"{duration(others[1])} per step.",
        ),
        python_overhead_fixes.advise(python_overhead_fixes.Growth(place=place)),
        "medium",
        place=to_place(place),
    )


def tell_threads(busier: list[GrowingPlace]) -> tuple[str, ...]:
    """A sentence on each of the functions that other threads run more."""
    return tuple(
        f"Another thread runs `{place}` in {percent(min(last, 1.0))} of the samples at the end, "
        f"and in {percent(min(first, 1.0)) if first > 0 else 'none'} at the start: about "
        f"{duration(after)} per step{f', {duration(before)} before' if first > 0 else ''}."
        for place, (first, last), (before, after) in busier[:2]
    )
