"""Samples of the training thread's stack, in the sets in which they were told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.events import PYTHON_STACK
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Fact


def samples_of(fact: Fact) -> float:
    """How often the thread was seen at a line."""
    return fact.numbers.get(stack_samples.SAMPLES, 0.0)


def waits_of(fact: Fact) -> float:
    """How often it waited there."""
    waits = (
        number for name, number in fact.numbers.items() if name.startswith(stack_samples.WAITS)
    )
    return sum(waits)


@dataclass(frozen=True, slots=True)
class StackSet:
    """Samples of the training thread's stack that were told together."""

    row: int
    of: float
    facts: list[Fact] = field(default_factory=list)
    """One for each place."""

    def has_room(self, fact: Fact) -> bool:
        """Whether it can be of this set: of no more samples than are left, nor than the one before.

        A place is told twice where one line is in two codes, as that of a comprehension was.
        """
        samples = sum(samples_of(one) for one in (*self.facts, fact))
        is_in_order = not self.facts or samples_of(fact) <= samples_of(self.facts[-1])
        is_new = all(one.subject != fact.subject for one in self.facts)
        return samples <= self.of and (is_new or is_in_order)


def stack_sets(run: Run) -> list[StackSet]:
    """All sets of samples, in order: in a long step there may be several."""
    sets: list[StackSet] = []
    for row, fact in run.facts(PYTHON_STACK):
        of = fact.numbers.get("of", 0.0)
        newest = sets[-1] if sets else None
        if newest is None or (newest.row, newest.of) != (row, of) or not newest.has_room(fact):
            newest = StackSet(row, of)
            sets.append(newest)
        newest.facts.append(fact)
    return sets


def facts_of(sets: Iterable[StackSet]) -> Iterator[Fact]:
    """What all of them tell, place by place."""
    return (fact for each in sets for fact in each.facts)


def function_of(place: str) -> str:
    """The function and the file of a place, without its line.

    Example:
      >>> function_of("Log.save (train.py:14)")
      'Log.save (train.py'
    """
    return place.rpartition(":")[0]


def unit_of(place: str) -> str:
    """What the samples of a place are counted with: its function, or its line of a script.

    Example:
      >>> unit_of("Log.save (train.py:14)")
      'Log.save (train.py'
      >>> unit_of("<module> (train.py:14)")
      '<module> (train.py:14)'
    """
    return place if place.startswith(names.SCRIPT) else function_of(place)


def find_training_unit(sets: Iterable[StackSet]) -> str:
    """What is in a graph in most samples: the function that trains; "" where none was."""
    graph: dict[str, float] = defaultdict(float)
    for fact in facts_of(sets):
        graph[unit_of(fact.subject)] += fact.numbers.get(stack_samples.GRAPH, 0.0)
    unit = max(graph, key=lambda each: graph[each], default="")
    return unit if unit and graph[unit] > 0 else ""


class TimeInside(NamedTuple):
    """What a function took in the steps of one set of samples."""

    steps: int
    seconds: float
    """In all of these steps, by the share of the samples that were there."""


def times_inside(
    run: Run, place: str, counted_with: Callable[[str], str] = unit_of
) -> Iterator[TimeInside]:
    """What a function of the program took, set by set; of a set of no whole step nothing is told.

    Args:
      run: The recording.
      place: A line of it.
      counted_with: What a line belongs to.
    """
    unit = counted_with(place)
    return times_of(
        run,
        lambda fact: counted_with(fact.subject) == unit and samples_of(fact),
    )


def times_of(run: Run, count: Callable[[Fact], float]) -> Iterator[TimeInside]:
    """The same of those samples of each place that `count` gives."""
    begun = 0
    for each in stack_sets(run):
        took = run.steps.period_seconds[begun : each.row]
        if len(took) and each.of > 0:
            there = sum(count(fact) for fact in each.facts)
            yield TimeInside(len(took), there / each.of * float(took.sum()))
        begun = max(begun, each.row)
