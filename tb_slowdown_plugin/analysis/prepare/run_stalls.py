"""Stalls of a run: where no step ended for a long time, and where the threads were."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

import numpy as np

from tb_slowdown_plugin.catalog import events
from tb_slowdown_plugin.catalog.signals import RUN_DELAY
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Event, Fact

_ACCOUNT: Final = "in:"
"""How the number begins that names the account in which the time goes."""
MEANWHILE: Final = (
    RUN_DELAY,
    "disk_read_bytes",
    "disk_written_bytes",
    "memory_pressure_seconds",
)
"""Signals, counted up, that say what the process does in a stall."""


@dataclass(frozen=True, slots=True)
class StallSeen:
    """One stall, as far as it is recorded."""

    row: int
    """The step that didn't end."""
    since: float
    """Unix seconds."""
    until: float
    """Unix seconds: the end of the step, or of what is recorded."""
    places: tuple[str, ...]
    """Where the training thread was, in order."""
    account: str | None
    """Known work that takes so long: "checkpoint"."""
    threads: int
    """Other threads of the process."""
    others: Mapping[str, int] = field(default_factory=dict)
    """Place -> other threads of the program there, by the newest look."""
    cpu_seconds: float = 0.0
    looked_seconds: float = 0.0
    """In which the process took `cpu_seconds`."""
    meanwhile: Mapping[str, float] = field(default_factory=dict)
    """Signal of `MEANWHILE` -> how much it grew in the stall."""
    is_open: bool = False
    """Whether no step has ended yet."""

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        return max(0.0, self.until - self.since)


def find_run_stalls(run: Run) -> tuple[StallSeen, ...]:
    """Finds the stalls of a run, in order of time; at most the last one is open."""
    return tuple(_complete(run, stall) for stall in _read(run.events))


def open_stall(run: Run) -> StallSeen | None:
    """The stall that a run is in at the end of what is recorded, None where it isn't."""
    newest = list(takewhile(lambda event: event.row >= len(run.steps), reversed(run.events)))
    stalls = list(_read(newest[::-1]))
    return _complete(run, stalls[-1]) if stalls else None


def _read(of_run: Iterable[Event]) -> Iterator[StallSeen]:
    stall: StallSeen | None = None
    for event in of_run:
        what = event.what
        if not isinstance(what, Fact):
            continue
        if what.name == events.STALL:
            if stall is not None and stall.row != event.row:
                yield stall
                stall = None
            stall = _with_look(stall, event.row, event.time, what)
        elif what.name == events.STALL_THREAD and stall is not None and stall.row == event.row:
            number = int(what.numbers.get("threads", 1.0))
            stall = replace(stall, others={**stall.others, what.subject: number})
        elif what.name == events.STALL_OVER:
            stall = None  # the training had ended
    if stall is not None:
        yield stall


def _with_look(before: StallSeen | None, row: int, time: float, fact: Fact) -> StallSeen:
    """The stall with one look at its threads more."""
    numbers = fact.numbers
    accounts = [name.removeprefix(_ACCOUNT) for name in numbers if name.startswith(_ACCOUNT)]
    places = before.places if before is not None else ()
    if fact.subject not in places:
        places = (*places, fact.subject)
    seconds = numbers.get("seconds", 0.0)
    return StallSeen(
        row=row,
        since=before.since if before is not None else numbers.get("since", time - seconds),
        until=time,
        places=places,
        account=accounts[0] if accounts else None,
        threads=int(numbers.get("threads", 0.0)),
        cpu_seconds=numbers.get("cpu_seconds", 0.0),
        looked_seconds=seconds,
    )


def _complete(run: Run, stall: StallSeen) -> StallSeen:
    is_open = stall.row >= len(run.steps)
    if is_open:
        newest = max(run.events[-1].time, float(run.signals.time[-1]) if len(run.signals) else 0.0)
        until = max(stall.until, newest)
    else:
        until = float(run.steps.ended[stall.row])
    stall = replace(stall, until=until, is_open=is_open)
    return replace(stall, meanwhile=_grown(run, stall))


def _grown(run: Run, stall: StallSeen) -> Mapping[str, float]:
    times = run.signals.time
    within = (times >= stall.since) & (times <= stall.until)
    found = {}
    for name in MEANWHILE:
        values = run.signals.values.get(name)
        if values is None:
            continue
        known = values[within & ~np.isnan(values)]
        if len(known) >= 2:
            found[name] = float(max(0.0, known[-1] - known[0]))
    return found
