"""Samples of the training thread's stack, in the sets in which they were told."""

from __future__ import annotations

from dataclasses import dataclass, field

from tb_slowdown_plugin.catalog.events import PYTHON_STACK
from tb_slowdown_plugin.records.types import Fact, Run


@dataclass(frozen=True, slots=True)
class StackSet:
    """Samples of the training thread's stack that were told together."""

    row: int
    of: float
    facts: list[Fact] = field(default_factory=list)
    """One for each place."""

    def has_room(self, fact: Fact) -> bool:
        """Whether it can be of this set: of another place, and of no more samples than are left."""
        places = (one.subject for one in self.facts)
        samples = sum(one.numbers.get("samples", 0.0) for one in (*self.facts, fact))
        return fact.subject not in places and samples <= self.of


def stack_sets(run: Run) -> list[StackSet]:
    """All sets of samples, in order: in a long step there may be several."""
    sets: list[StackSet] = []
    for event in run.events:
        what = event.what
        if not isinstance(what, Fact) or what.name != PYTHON_STACK:
            continue
        of = what.numbers.get("of", 0.0)
        newest = sets[-1] if sets else None
        if (
            newest is None
            or (newest.row, newest.of) != (event.row, of)
            or not newest.has_room(what)
        ):
            newest = StackSet(event.row, of)
            sets.append(newest)
        newest.facts.append(what)
    return sets
