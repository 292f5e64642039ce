"""What the program computes in TensorFlow or Keras without a graph.

Operations on a whole batch go on while a sample of the stack looks twice. Those on a single row
don't: they take little beyond their start.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tb_slowdown_plugin.analysis.prepare.step_kinds import run_graphs
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import facts_of, stack_sets, times_of
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MATTERS, SEVERAL
from tb_slowdown_plugin.records.types import Run


class EagerWork(NamedTuple):
    """All that a program computes so."""

    place: str
    """The line with most of the samples, "f (train.py:14)" or "train.py:14"."""
    seconds: float
    """By the share of the samples."""
    samples: int
    of: int
    """All samples."""
    on_batches: bool
    """Whether its operations compute much at once."""

    def takes(self, seconds: float) -> bool:
        """Whether so much may be its own: samples tell it within a factor of two."""
        return MAJORITY * seconds <= self.seconds <= seconds / MAJORITY


def find_eager_work(run: Run) -> EagerWork | None:
    """Such work beside steps that run a graph; None where samples are too few to say."""
    if not run_graphs(run):
        return None
    sets = stack_sets(run)
    lines: Counter[str] = Counter()
    long = 0
    for fact in facts_of(sets):
        lines[fact.subject] += round(fact.numbers.get(stack_samples.NO_GRAPH, 0.0))
        long += round(fact.numbers.get(stack_samples.LONG_OPERATION, 0.0))
    samples = lines.total()
    if samples < SEVERAL:
        return None
    return EagerWork(
        names.place(lines.most_common(1)[0][0]),
        sum(
            each.seconds
            for each in times_of(run, lambda fact: fact.numbers.get(stack_samples.NO_GRAPH, 0.0))
        ),
        samples,
        round(sum(each.of for each in sets)),
        on_batches=long >= MATTERS * samples,
    )
