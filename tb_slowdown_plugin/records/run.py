"""A run: the chunks of its processes, joined, with what else is known of it.

The reader builds it, the analysis and the server ask it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar, cast

from tb_slowdown_plugin.records.capture import CapturedSteps
from tb_slowdown_plugin.records.trials import Trial
from tb_slowdown_plugin.records.types import (
    Environment,
    Event,
    Fact,
    SignalTable,
    StepTable,
    What,
)

OneKind = TypeVar("OneKind", bound=What)


@dataclass(frozen=True, slots=True)
class Gap:
    """Steps that a session finished and that are in no record here."""

    row: int
    """The first one after them, in the joined run."""
    steps: int


@dataclass(frozen=True, slots=True)
class Session:
    """One process that wrote into a run; a resumed run has several."""

    id: str
    first_row: int
    """Row of its first step in the joined run."""
    started: float
    chunks: int
    missing_chunks: int
    gaps: tuple[Gap, ...] = ()
    """Where steps are missing between its chunks: of missing chunks, or never written."""

    @property
    def missing_steps(self) -> int:
        """Steps in all its gaps."""
        return sum(gap.steps for gap in self.gaps)


@dataclass(frozen=True, slots=True)
class ScalarSource:
    """Which scalars the steps of a run without records were drawn from."""

    tag: str
    """Its points are the run's steps: each has a step number and a wall time."""
    writer: str
    """The run as TensorBoard names it: "run1/train"."""
    clock: Literal["wall_times", "values"]
    """Whether steps were timed by the wall times of the points, or by what the points say."""
    unit: Literal["step", "epoch"]
    """What one step number is."""
    stopped_seconds: float = 0.0
    """Of gaps in which the program stood still or did not run; kept out of the wall time."""


@dataclass(frozen=True)
class Run:
    """All that is known of one run (of one worker of it): its chunks, joined.

    Rows of events and signals count in the joined run, so `events[i].row`
    indexes `steps` (an event after the last step has row `len(steps)`).
    """

    name: str
    steps: StepTable
    signals: SignalTable
    events: tuple[Event, ...]
    environment: Environment
    sessions: tuple[Session, ...]
    workers: tuple[Run, ...] = ()
    """The other workers of the same run, chief first excluded; empty for one process."""
    captured: tuple[CapturedSteps, ...] = ()
    """What the profiler's captures beside the run tell of some of its steps."""
    trials: tuple[Trial, ...] = ()
    """What `tbslow try` has measured of its program."""
    notes: tuple[str, ...] = ()
    """What the reader found wrong with the records, in sentences for a person."""
    steps_per_row: int = 1
    """More than 1 where a run is too long to be kept step by step: then each row of `steps`
    is so many steps in a row, taken as one; seconds, items and accounts are their sums.
    Where the run is drawn from scalars, they are the mean of those steps."""
    drawn_from: ScalarSource | None = None
    """Of a run without records: the scalars that its steps are drawn from."""
    is_ended: bool = False
    """Whether the monitor of its last process was stopped: nothing follows but another process."""
    read_fraction: float = 1.0
    """Share of its records that is here: less than 1 in a first part, whose rest is read later."""

    def all_of(self, kind: type[OneKind]) -> tuple[tuple[int, OneKind], ...]:
        """(row, what) of all events of a kind, in their order."""
        return cast(tuple[tuple[int, OneKind], ...], self._kinds.get(kind, ()))

    def facts(self, name: str) -> tuple[tuple[int, Fact], ...]:
        """(row, fact) of all facts of a name, in their order."""
        return self._facts.get(name, ())

    @cached_property
    def _kinds(self) -> dict[type, tuple[tuple[int, What], ...]]:
        found: defaultdict[type, list[tuple[int, What]]] = defaultdict(list)
        for event in self.events:
            found[type(event.what)].append((event.row, event.what))
        return {kind: tuple(events) for kind, events in found.items()}

    @cached_property
    def _facts(self) -> dict[str, tuple[tuple[int, Fact], ...]]:
        found: defaultdict[str, list[tuple[int, Fact]]] = defaultdict(list)
        for row, fact in self.all_of(Fact):
            found[fact.name].append((row, fact))
        return {name: tuple(facts) for name, facts in found.items()}
