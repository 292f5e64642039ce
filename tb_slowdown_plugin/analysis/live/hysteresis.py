"""Decides which findings of a live run are confirmed, and withdraws those that no longer hold.

Each look at a growing run is one more test, so chance gets as many tries. What clocks timed
needs no second look. What was fitted to step times is confirmed once it has lasted; until then
its seconds are lost without a cause. Seconds that another source explains better stay confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tb_slowdown_plugin.analysis.ledger.verdict import judge
from tb_slowdown_plugin.analysis.text import wording
from tb_slowdown_plugin.analysis.types import (
    CORE,
    Diagnosis,
    Finding,
    Pattern,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION, IN_TURN, THROTTLED
from tb_slowdown_plugin.catalog.parameters.shared import FAR_BEYOND, MAJORITY
from tb_slowdown_plugin.catalog.parameters.views import CONFIRM_SECONDS, CONFIRM_STEPS
from tb_slowdown_plugin.records.types import Int

_MAX_NOTES: Final = 5
_AS_NOUN: Final[dict[Pattern, str]] = {
    "warm_up": "a slow start",
    "flat": "a cost",
    "level_shift": "a rise",
    "drift": "growth",
    "periodic": "stalls every few steps",
    "epoch_boundary": "stalls between epochs",
    "one_off": "a slow stretch",
}


@dataclass(frozen=True, slots=True)
class Sighting:
    """A finding as an earlier analysis saw it."""

    source: str
    pattern: Pattern
    rows: tuple[int, int]
    lost_seconds: float
    first_steps: int
    """Steps of the run when it was first seen; every analysis since has seen it."""
    first_wall_seconds: float
    first_lost_seconds: float
    is_confirmed: bool


@dataclass(frozen=True, slots=True)
class LiveState:
    """What earlier analyses of a growing run saw: a few hundred bytes, however long it is."""

    steps: int
    sightings: tuple[Sighting, ...]
    withdrawn: tuple[str, ...] = ()
    """Sentences, the oldest first."""
    steps_per_row: int = 1
    """Steps of the program in what is called a step here: `Run.steps_per_row`."""

    def in_rows_of(self, steps_per_row: int) -> LiveState:
        """The same where a row stands for `steps_per_row` steps, as before or more."""
        factor = steps_per_row // self.steps_per_row
        if factor <= 1:
            return self
        sightings = (
            replace(
                each,
                rows=(each.rows[0] // factor, each.rows[1] // factor),
                first_steps=each.first_steps // factor,
            )
            for each in self.sightings
        )
        return LiveState(self.steps // factor, tuple(sightings), self.withdrawn, steps_per_row)


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A diagnosis, split into what is confirmed and what is not yet."""

    diagnosis: Diagnosis
    """With the confirmed findings only; the seconds of the others are unexplained in its ledger."""
    pending: tuple[Finding, ...]
    """The others."""
    remaining_seconds: float
    """Wall seconds until the last of them is decided; 0 without any."""
    state: LiveState
    """For the next look."""


def confirm(
    diagnosis: Diagnosis, numbers: Sequence[int] | Int, before: LiveState | None
) -> Confirmation:
    """Splits the findings of a live run into those that are confirmed and the others.

    The first look at a run is one test, whose false alarms are known: it confirms everything.

    Args:
      diagnosis: Of the run as it is now. `S` is the number of its steps.
      numbers: (S,) step numbers.
      before: The `state` of the look before; None at the first.
    """
    steps, wall = len(diagnosis.healthy_per_step), diagnosis.ledger.wall_seconds
    if before is not None and steps < before.steps:
        before = None  # another run with the same name
    seen_before = before.sightings if before else ()
    shrunk = [each for each in seen_before if _seconds_of(each, diagnosis) < each.lost_seconds / 2]
    confirmed: list[Finding] = []
    pending: list[Finding] = []
    sightings = []
    remaining = 0.0
    for finding in diagnosis.findings:
        seen = _history(finding, before, shrunk)
        lost = finding.lost_seconds
        first = (
            (seen.first_steps, seen.first_wall_seconds, seen.first_lost_seconds)
            if seen
            else (steps, wall, lost)
        )
        has_grown = steps >= CONFIRM_STEPS * first[0] or lost >= FAR_BEYOND * first[2]
        is_confirmed = (
            before is None
            or _is_timed(finding)
            or (seen is not None and seen.is_confirmed)
            or (has_grown and wall >= first[1] + CONFIRM_SECONDS)
        )
        (confirmed if is_confirmed else pending).append(finding)
        if not is_confirmed:
            remaining = max(remaining, first[1] + CONFIRM_SECONDS - wall, 1.0)
        sightings.append(
            Sighting(finding.source, finding.pattern, finding.rows, lost, *first, is_confirmed)
        )
    withdrawn = before.withdrawn if before else ()
    for sighting in shrunk:
        # Parts of a slow start are the same seconds under another name.
        is_gone = _seconds_of(sighting, diagnosis) == 0.0 and sighting.pattern != "warm_up"
        if sighting.is_confirmed and is_gone:
            withdrawn += (_withdraw(sighting, diagnosis, numbers),)
    state = LiveState(steps, tuple(sightings), withdrawn[-_MAX_NOTES:])
    return Confirmation(_keep(diagnosis, confirmed), tuple(pending), remaining, state)


def _is_timed(finding: Finding) -> bool:
    """Whether it needs no second look: a slow start, and what clocks timed.

    How much other processes took of the cores is estimated.
    """
    if finding.pattern == "warm_up":
        return True
    if finding.source in (CORE, IN_TURN):
        return False
    return names.family(finding.source) != CONTENTION or finding.source == THROTTLED


def _is_same(finding: Finding, sighting: Sighting) -> bool:
    """Whether two are of one source and share most of their rows; the pattern may differ."""
    if finding.source != sighting.source:
        return False
    if (finding.pattern == "warm_up") != (sighting.pattern == "warm_up"):
        return False
    (first, last), (other_first, other_last) = finding.rows, sighting.rows
    shared = min(last, other_last) - max(first, other_first) + 1
    return shared >= MAJORITY * (min(last - first, other_last - other_first) + 1)


def _seconds_of(sighting: Sighting, diagnosis: Diagnosis) -> float:
    """What is lost now to the findings that are the same as a sighting; 0 if there is none."""
    return sum(each.lost_seconds for each in diagnosis.findings if _is_same(each, sighting))


def _holds_seconds_of(finding: Finding, sighting: Sighting) -> bool:
    """Whether most of what a sighting lost now belongs to a finding."""
    first, last = sighting.rows
    held = float(finding.lost_per_step[first : last + 1].sum())
    return held >= MAJORITY * sighting.lost_seconds


def _history(
    finding: Finding, before: LiveState | None, shrunk: Sequence[Sighting]
) -> Sighting | None:
    """The earliest sighting of a finding, under its own source or under one that lost seconds."""
    if before is None:
        return None
    same = [each for each in before.sightings if _is_same(finding, each)]
    same += [each for each in shrunk if _holds_seconds_of(finding, each)]
    return min(same, key=lambda each: (not each.is_confirmed, each.first_steps), default=None)


def _keep(diagnosis: Diagnosis, confirmed: list[Finding]) -> Diagnosis:
    """The diagnosis with only these findings; the seconds of the others are unexplained."""
    if len(confirmed) == len(diagnosis.findings):
        return diagnosis
    lost: dict[str, float] = {}
    for finding in confirmed:
        lost[finding.source] = lost.get(finding.source, 0.0) + finding.lost_seconds
    ledger = diagnosis.ledger
    enough = len(diagnosis.healthy_per_step) >= diagnosis.steps_needed
    verdict = judge(confirmed, replace(ledger, lost=lost), enough=enough)
    withheld = sum(ledger.lost.values()) - sum(lost.values())
    ledger = replace(ledger, lost=lost, unexplained_seconds=ledger.unexplained_seconds + withheld)
    return replace(diagnosis, verdict=verdict, ledger=ledger, findings=tuple(confirmed))


def _withdraw(sighting: Sighting, diagnosis: Diagnosis, numbers: Sequence[int] | Int) -> str:
    first, last = sighting.rows
    seconds = wording.ledger_seconds(sighting.lost_seconds)
    what = f"{_AS_NOUN[sighting.pattern]} of {_title(sighting.source)} ({seconds} in steps "
    what += f"{wording.step_range(int(numbers[first]), int(numbers[last]))})"
    taker = next(
        (each for each in diagnosis.findings if _holds_seconds_of(each, sighting)),
        None,
    )
    if taker is not None:
        reason = f"these seconds now belong to {_title(taker.source)}"
    else:
        share = wording.percent(sighting.lost_seconds / diagnosis.ledger.wall_seconds)
        reason = f"it was {share} of the run as it is now, and the steps since do not confirm it"
    return f"Withdrawn at step {int(numbers[-1]):,}: {what}; {reason}."


def _title(source: str) -> str:
    """A source of findings as it stands in a sentence."""
    if source == CORE:
        return "the step's own time"
    family, detail = names.family(source), names.detail(source)
    title = family.replace("_", " ")
    # Only these families have a detail that the user named.
    is_named = family in (names.CALLBACK, names.CHECKPOINT, names.PHASE)
    return f"{title} {detail}" if detail and is_named else title
