"""Which function of the program takes what comes back with every so many steps, by samples."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from typing import NamedTuple

from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    facts_of,
    find_training_unit,
    samples_of,
    stack_sets,
    times_of,
    unit_of,
    waits_of,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import ENOUGH_STEPS, MAJORITY, SEVERAL
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Fact


class RegularFunction(NamedTuple):
    """A function that takes about as much."""

    place: str
    """Its line with most of the samples, "f (train.py:14)"."""
    samples: int
    of: int
    """All samples."""


def find_regular_function(run: Run, seconds: float) -> RegularFunction | None:
    """The one whose samples tell these seconds within a factor of two; None without one.

    The function that trains, or else the one with the most samples, is never it, nor one that
    mostly waits. Lines of a script outside of functions are one each.

    Args:
      run: The recording.
      seconds: What comes back has taken.
    """
    sets = stack_sets(run)
    of = round(sum(each.of for each in sets))
    if of < ENOUGH_STEPS:
        return None
    lines: dict[str, Counter[str]] = defaultdict(Counter)
    waiting: dict[str, float] = defaultdict(float)
    for fact in facts_of(sets):
        lines[unit_of(fact.subject)][fact.subject] += round(samples_of(fact))
        waiting[unit_of(fact.subject)] += waits_of(fact)
    units = sorted(lines, key=lambda unit: -lines[unit].total())
    training = find_training_unit(sets) or next(iter(units), "")
    for unit in units:
        samples = lines[unit].total()
        if unit == training or waiting[unit] >= MAJORITY * samples:
            continue
        took = sum(each.seconds for each in times_of(run, partial(_samples_in, unit)))
        if samples >= SEVERAL and MAJORITY * seconds <= took <= seconds / MAJORITY:
            return RegularFunction(names.place(lines[unit].most_common(1)[0][0]), samples, of)
    return None


def _samples_in(unit: str, fact: Fact) -> float:
    return samples_of(fact) if unit_of(fact.subject) == unit else 0.0
