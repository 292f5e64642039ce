"""What a function of the program takes that starts TensorFlow operations one by one in every step.

Beside steps that run a graph: where all of a step is eager, it is the model that computes, and a
note says what a graph would save. No step is slow by it, so samples of the stack tell the time.
Nor where it takes ever longer: then what it works on grows, and growth has causes of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.prepare.step_kinds import EAGER_GRADIENTS
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    function_of,
    stack_sets,
    times_inside,
)
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import (
    FAR_BEYOND,
    MAJORITY,
    MATTERS,
    MOSTLY,
    NEARLY_ALL,
)
from tb_slowdown_plugin.records.types import Float, Run


class EagerFunction(NamedTuple):
    """A function that starts operations."""

    place: str
    """Its line that starts one most often, "f (train.py:14)"."""
    eager: int
    """Samples in which it started one."""
    samples: int
    """Samples in which the training thread was there."""
    of: int
    """All samples."""


def with_eager_operations(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for such a function where it does in a quarter of the samples.

    And in most sets of them: what a program does at the end of an epoch is in few.
    """
    made = dict(measured)
    found = find_eager_function(run)
    if found is None:
        return made
    period = run.steps.period_seconds
    core = period - sum(zero_where_unknown(each) for each in measured.values())
    if grows(core) and _is_longer_at_end(run, found):
        return made
    seconds = np.clip(found.samples / found.of * period, 0.0, np.maximum(core, 0.0))
    made[names.account(names.EAGER, found.place)] = seconds
    return made


def find_eager_function(run: Run) -> EagerFunction | None:
    """The function with the most samples; None where they are too few, or nothing else is run."""
    ran = run.steps.ran
    if not len(ran) or np.mean((ran > 0) & (ran & EAGER_GRADIENTS == 0)) < NEARLY_ALL:
        return None
    sets = stack_sets(run)
    lines: dict[str, Counter[str]] = defaultdict(Counter)
    seen_in: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for each in sets:
        seen = {fact.subject: fact.numbers.get("eager", 0.0) for fact in each.facts}
        for place, samples in seen.items():
            lines[function_of(place)][place] += round(samples)
        for fact in each.facts:
            whole[function_of(fact.subject)] += round(fact.numbers.get("samples", 0.0))
        seen_in.update({function_of(place) for place, samples in seen.items() if samples})
    if not lines:
        return None
    main = max(lines.values(), key=Counter.total)
    place, _ = main.most_common(1)[0]
    of = max(1, round(sum(each.of for each in sets)))
    function = function_of(place)
    if main.total() < max(MATTERS * of, MAJORITY * whole[function]):
        return None
    if seen_in[function] < MOSTLY * len(sets):
        return None
    return EagerFunction(place, main.total(), whole[function], of)


def _is_longer_at_end(run: Run, function: EagerFunction) -> bool:
    """Whether a step spends far more time there in the last third of the samples' sets."""
    inside = times_inside(run, function_of(function.place))
    per_step = [each.seconds / each.steps for each in inside]
    third = len(per_step) // 3
    return third > 0 and sum(per_step[-third:]) >= FAR_BEYOND * sum(per_step[:third])
