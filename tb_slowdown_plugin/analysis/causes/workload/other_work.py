"""Steps that run other functions than others, or call them more often: work, and no slowdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.prepare.step_kinds import (
    functions_of,
    name_functions,
    usual_functions,
)
from tb_slowdown_plugin.analysis.text.wording import count, counted, duration, listed, times
from tb_slowdown_plugin.catalog.parameters.shared import ALIKE, START_SHARE
from tb_slowdown_plugin.records.types import Int

_MOST_KINDS: Final = 4


def tell_other_work(case: Case) -> Iterable[str]:
    """Which kinds of steps there are, and what each takes."""
    run = case.run
    found = case.comparable
    if found.are_found:
        yield from _tell_kinds(case, found.kind)
    if found.by_calls.any():
        calls = run.steps.calls[found.by_calls]
        least, most = int(calls.min()), int(calls.max())
        yield (
            f"Steps call their functions {count(least)} to {count(most)} times. A step is compared "
            "with steps of as many calls: more calls are workload and aren't counted as lost."
        )
    if found.by_numbers.any():
        sizes = found.items[found.by_numbers]
        ratio = float(np.nanmax(sizes) / np.nanmin(sizes))
        yield (
            f"The largest input of a step is {times(ratio)} the smallest, by the sizes of "
            "arguments and the turns of loops. A step is compared with steps with as much input: "
            "more input is workload and isn't counted as lost."
        )


def _tell_kinds(case: Case, kind: Int) -> Iterable[str]:
    steps = case.run.steps
    named = name_functions(case.run)
    taken = []
    for each in np.unique(kind):
        rows = np.flatnonzero(kind == each)
        seconds = float(steps.period_seconds[rows].sum())
        if case.wall_share(seconds) >= ALIKE:
            taken.append((seconds, usual_functions(steps.ran[rows]), rows))
    if len(taken) < 2:
        return
    taken.sort(key=lambda each: -each[0])
    parts = []
    for _, ran, rows in taken[:_MOST_KINDS]:
        functions = [
            name if name.startswith(("Keras ", "gradients ", "other ")) else f"`{name}`"
            for name in functions_of(ran, named)
        ]
        typical = float(np.median(steps.period_seconds[rows]))
        begins_late = rows[0] > START_SHARE * len(steps)
        first = f" since {case.step_text(int(rows[0]))}" if begins_late else ""
        parts.append(
            f"{listed(functions) if functions else 'no function'} in "
            f"{counted(len(rows), 'step')}{first} ({duration(typical)} each)"
        )
    yield (
        "Steps do different work, and are compared only with steps that run the same functions: "
        f"{'; '.join(parts)}."
    )
