"""What a graph would spare where the steps run none: the start of each operation from Python.

Then samples of the stack are in TensorFlow or Keras outside of a graph all the time, and few of
them in an operation that goes on while it is looked at. Of eight models, on two cores beside light
work, a graph spared 45 to 97% of the step. It was told of six, with 63 to 81% instead of 85 to 97%,
and not of the two with the largest operations (`benchmarks/eager_training.py`). Of an operation
that goes on, twice the samples are left to the step, as a sample at its end sees it end; of the
rest a tenth, and a tenth again for what a graph takes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.prepare.step_kinds import EAGER_GRADIENTS
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import facts_of, stack_sets, unit_of
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.parameters.shared import (
    ENOUGH_STEPS,
    MAJORITY,
    MATTERS,
    NEARLY_ALL,
)
from tb_slowdown_plugin.records.run import Run


class EagerTraining(NamedTuple):
    """Steps that run no graph."""

    place: str
    """The line with most of the samples of the function with most of them."""
    share: float
    """Of the run, at least, that a graph would spare."""
    samples: int
    """In TensorFlow or Keras, outside of a graph."""
    long: int
    """Of these, in an operation that went on."""
    of: int
    """All samples."""


def find_eager_training(run: Run) -> EagerTraining | None:
    """None where graphs train, or samples are too few, or mostly in operations that go on."""
    ran = run.steps.ran
    if not len(ran) or np.mean(ran & EAGER_GRADIENTS != 0) < NEARLY_ALL:
        return None
    lines: dict[str, Counter[str]] = defaultdict(Counter)
    long = 0
    sets = stack_sets(run)
    for fact in facts_of(sets):
        numbers = fact.numbers
        there = numbers.get(stack_samples.NO_GRAPH, 0.0) + numbers.get(
            stack_samples.EAGER_TRAINING, 0.0
        )
        lines[unit_of(fact.subject)][fact.subject] += round(there)
        long += round(
            numbers.get(stack_samples.LONG_OPERATION, 0.0)
            + numbers.get(stack_samples.LONG_TRAINING, 0.0)
        )
    of = round(sum(each.of for each in sets))
    samples = sum(each.total() for each in lines.values())
    share = NEARLY_ALL**2 * (samples - long / MAJORITY) / of if of else 0.0
    if samples < ENOUGH_STEPS or share < MATTERS:
        return None
    main = max(lines.values(), key=lambda each: each.total())
    return EagerTraining(names.place(main.most_common(1)[0][0]), share, samples, long, of)
