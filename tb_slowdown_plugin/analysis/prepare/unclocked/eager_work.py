"""What the program computes in TensorFlow or Keras without a graph.

Operations on a whole batch go on while a sample of the stack looks twice. Those on a single row
don't: they take little beyond their start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from tb_slowdown_plugin.analysis.prepare.step_kinds import run_graphs
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    facts_of,
    stack_sets,
    times_of,
    unit_of,
)
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MATTERS, SEVERAL
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Fact


class EagerWork(NamedTuple):
    """What a program computes so: all of it, or one of its functions."""

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
    return _sum_up(run, lambda _: True) if run_graphs(run) else None


def find_eager_functions(run: Run) -> list[EagerWork]:
    """The same of each function of the program, or line of a script; most samples first."""
    if not run_graphs(run):
        return []
    units = {unit_of(fact.subject) for fact in facts_of(stack_sets(run))}
    found = filter(None, (_sum_up(run, partial(_is_in, unit)) for unit in units))
    return sorted(found, key=lambda each: (-each.samples, each.place))


def _sum_up(run: Run, counts: Callable[[str], bool]) -> EagerWork | None:
    """What lines that count have; None where samples are too few to say."""
    sets = stack_sets(run)
    lines: Counter[str] = Counter()
    long = 0
    for fact in facts_of(sets):
        if counts(fact.subject):
            lines[fact.subject] += _samples_of(fact)
            long += round(fact.numbers.get(stack_samples.LONG_OPERATION, 0.0))
    samples = lines.total()
    if samples < SEVERAL:
        return None
    times = times_of(run, lambda fact: _samples_of(fact) if counts(fact.subject) else 0)
    return EagerWork(
        names.place(lines.most_common(1)[0][0]),
        sum(each.seconds for each in times),
        samples,
        round(sum(each.of for each in sets)),
        on_batches=long >= MATTERS * samples,
    )


def _is_in(unit: str, place: str) -> bool:
    return unit_of(place) == unit


def _samples_of(fact: Fact) -> int:
    return round(fact.numbers.get(stack_samples.NO_GRAPH, 0.0))
