"""What came back with a change of the program, cause by cause: events and seconds of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.analysis.compare.run_ledger import HEALTHY, RunLedger
from tb_slowdown_plugin.analysis.text.wording import count, duration
from tb_slowdown_plugin.analysis.types import UNEXPLAINED
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.catalog.parameters.shared import ALIKE, MAJORITY

_EVENTS: Final = {
    "retracing": "retraces",
    "garbage_collection": "collections",
    "checkpointing": "saves",
}
"""Cause -> what its events are called."""


@dataclass(frozen=True, slots=True)
class CauseChange:
    """What one cause cost a run before and costs it now."""

    cause: str
    before: float | None
    """Events of a run, such as retraces; None where the cause has none."""
    now: float | None
    seconds: float
    """That came back, in as many steps as a run had before; negative where more is lost."""
    text: str
    """The same in words."""


def find_changes(
    causes: Iterable[str], base: Sequence[RunLedger], other: Sequence[RunLedger]
) -> Iterator[CauseChange]:
    """Says for each cause what came back.

    Args:
      causes: Those that differ by more than chance; other terms of a ledger are left out.
      base: Runs as the program was.
      other: Runs as it is now.
    """
    steps = _mean([run.steps for run in base]), _mean([run.steps for run in other])
    for cause in causes:
        if cause in (HEALTHY, UNEXPLAINED):
            continue
        seconds = steps[0] * (_per_step(base, cause) - _per_step(other, cause))
        before, now = _events(base, cause), _events(other, cause)
        text = _describe(cause, before, now, seconds, steps)
        yield CauseChange(cause, before, now, seconds, text)


def has_other_events(cause: str, base: Sequence[RunLedger], other: Sequence[RunLedger]) -> bool:
    """Whether one side has fewer than half as many events of a cause in as many steps."""
    rates = [
        (_events(side, cause) or 0.0) / max(_mean([run.steps for run in side]), 1.0)
        for side in (base, other)
    ]
    return min(rates) < MAJORITY * max(rates)


def _per_step(runs: Sequence[RunLedger], cause: str) -> float:
    return _mean([run.terms[cause].seconds if cause in run.terms else 0.0 for run in runs])


def _events(runs: Sequence[RunLedger], cause: str) -> float | None:
    known = [run.events[cause] for run in runs if cause in run.events]
    return _mean(known) if known else None


def _describe(
    cause: str,
    before: float | None,
    now: float | None,
    seconds: float,
    steps: tuple[float, float],
) -> str:
    """The change in words.

    >>> _describe("retracing", 45.0, 0.0, 115.2, (1200.0, 1200.0))
    'Retracing: retraces 45 to 0, 1 min 55 s back.'
    >>> _describe("checkpointing", 12.0, 12.0, -30.0, (1200.0, 600.0))
    'Checkpointing: saves 12 in 1,200 steps to 12 in 600, 30.0 s more lost in 1,200 steps.'
    """
    is_other_length = abs(steps[1] - steps[0]) > ALIKE * steps[0]
    of_steps = f" in {count(steps[0])} steps" if is_other_length else ""
    events = ""
    if before is not None and now is not None and (before or now):
        of_other = f" in {count(steps[1])}" if is_other_length else ""
        events = f"{_EVENTS[cause]} {count(before)}{of_steps} to {count(now)}{of_other}, "
    what = "back" if seconds > 0 else "more lost"
    return f"{cause_title(cause)}: {events}{duration(abs(seconds))} {what}{of_steps}."


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
