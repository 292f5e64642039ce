"""Gradients that a program computes without a graph, beside the graphs that train, in some steps.

Such as a penalty that is watched every other step. Steps that run the same graphs without it tell
by the clock what it takes, and samples of the stack where it is. Where every step computes its
gradients so, that is the model, and a note says what a graph would spare.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

import numpy as np

from tb_slowdown_plugin.analysis.prepare.step_kinds import EAGER_GRADIENTS
from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    stack_sets,
    times_inside,
    unit_of,
)
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MATTERS, SERIES, SEVERAL
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float


def with_eager_gradients(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for the function that computes such gradients.

    Args:
      run: The recording.
      measured: Account -> (S,) exclusive seconds; what is in none is the step's own work.
    """
    made = dict(measured)
    seconds = _beyond_graphs(run, left_over(run, measured))
    if not seconds.any():
        return made
    place = _main_place(run)
    if place and _takes(run, place, float(seconds.sum())):
        made[names.account(names.EAGER, place)] = seconds
    return made


def _beyond_graphs(run: Run, core: Float) -> Float:
    """(S,) what steps take longer than those that run the same functions, and no gradients."""
    ran = run.steps.ran
    graphs = ran & ~EAGER_GRADIENTS
    beside = (ran != graphs) & (graphs > 0)
    seconds = np.zeros(len(core))
    for each in np.unique(graphs[beside]):
        alone = core[ran == each]
        if len(alone) >= SERIES:
            rows = beside & (graphs == each)
            seconds[rows] = np.maximum(core[rows] - median(alone), 0.0)
    return seconds


def _main_place(run: Run) -> str:
    """The line with most of the samples; "" where they are few, or in operations that go on."""
    lines: dict[str, Counter[str]] = defaultdict(Counter)
    long: Counter[str] = Counter()
    for fact in (fact for each in stack_sets(run) for fact in each.facts):
        trained = fact.numbers.get(stack_samples.EAGER_TRAINING, 0.0)
        unit = unit_of(fact.subject)
        lines[unit][fact.subject] += round(trained)
        long[unit] += round(fact.numbers.get(stack_samples.LONG_TRAINING, 0.0))
    unit, seen = max(lines.items(), key=lambda each: each[1].total(), default=("", Counter()))
    if seen.total() < SEVERAL or long[unit] >= MATTERS * seen.total():
        return ""
    return seen.most_common(1)[0][0]


def _takes(run: Run, place: str, seconds: float) -> bool:
    """Whether so much may be the function's: samples tell it within a factor of two."""
    seen = sum(each.seconds for each in times_inside(run, place))
    return MAJORITY * seconds <= seen <= seconds / MAJORITY
