"""What may be said of a run that still runs: what lasted; and what must be taken back.

Whoever looks at a growing run again and again gives chance as many tries. So a
finding is told when it was there before, in a shorter run, and is not small; what
the longer run bears out no more is taken back with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from tb_slowdown_plugin.analysis import wording
from tb_slowdown_plugin.analysis.diagnose import judge
from tb_slowdown_plugin.analysis.findings import CORE
from tb_slowdown_plugin.analysis.types import Diagnosis, Finding, Pattern
from tb_slowdown_plugin.records import names
from tb_slowdown_plugin.records.types import Int

_MORE_STEPS: Final = 1.01
_MORE_SECONDS: Final = 30.0
"""By both a run must have grown before a finding counts as seen twice."""
_LEAST_ROWS: Final = 200
_LEAST_SHARE: Final = 0.05
"""A finding is told from so many steps on, or from this share of the steps or of the wall."""
_SAME: Final = 0.5
"""Share of the shorter of two stretches that both must hold to be the same finding."""
_MOST_NOTES: Final = 5
_AS_NOUN: Final[dict[Pattern, str]] = {
    "warm_up": "a slow start",
    "flat": "a cost",
    "level_shift": "a rise",
    "drift": "growth",
    "periodic": "stalls at regular intervals",
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
    """Steps of the run when it was first seen; it has been seen at every look since."""
    first_wall_seconds: float
    is_told: bool


@dataclass(frozen=True, slots=True)
class Watch:
    """What earlier analyses of a growing run saw: a few hundred bytes, however long it is."""

    steps: int
    sightings: tuple[Sighting, ...]
    taken_back: tuple[str, ...] = ()
    """Sentences, the oldest first."""
    steps_per_row: int = 1
    """Steps of the program in what is called a step here: `Run.steps_per_row`."""

    def in_rows_of(self, steps_per_row: int) -> Watch:
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
        return Watch(self.steps // factor, tuple(sightings), self.taken_back, steps_per_row)


def announce(
    diagnosis: Diagnosis, numbers: Sequence[int] | Int, before: Watch | None
) -> tuple[Diagnosis, Watch]:
    """Keeps of a diagnosis what may be told now.

    The first look at a run is one test, whose false alarms are known: all of it is told.

    Args:
      diagnosis: Of the run as it is now. `S` is the number of its steps.
      numbers: (S,) step numbers.
      before: What the analysis before returned; None at the first look.

    Returns:
      The diagnosis, in which findings not yet told are healthy, and what to hand
      in next time.
    """
    steps, wall = len(diagnosis.healthy_per_step), diagnosis.ledger.wall_seconds
    if before is not None and steps < before.steps:
        before = None  # the run was made anew
    told: list[Finding] = []
    sightings = []
    for finding in diagnosis.findings:
        earlier = _earlier(finding, before)
        first = (earlier.first_steps, earlier.first_wall_seconds) if earlier else (steps, wall)
        lasted = steps >= _MORE_STEPS * first[0] and wall >= first[1] + _MORE_SECONDS
        is_told = (
            before is None
            or (earlier is not None and earlier.is_told)
            or (lasted and _is_big(finding, steps, wall))
        )
        if is_told:
            told.append(finding)
        sightings.append(
            Sighting(
                finding.source, finding.pattern, finding.rows, finding.lost_seconds, *first, is_told
            )
        )
    taken_back = before.taken_back if before else ()
    for sighting in before.sightings if before else ():
        if sighting.is_told and not any(_is_same(each, sighting) for each in diagnosis.findings):
            taken_back += (_take_back(sighting, diagnosis, numbers),)
    watch = Watch(steps, tuple(sightings), taken_back[-_MOST_NOTES:])
    return _keep(diagnosis, told), watch


def _is_same(finding: Finding | Sighting, sighting: Sighting) -> bool:
    """Whether two are of one source and share most of their rows; the pattern may differ."""
    if finding.source != sighting.source:
        return False
    if (finding.pattern == "warm_up") != (sighting.pattern == "warm_up"):
        return False
    (first, last), (other_first, other_last) = finding.rows, sighting.rows
    shared = min(last, other_last) - max(first, other_first) + 1
    return shared >= _SAME * (min(last - first, other_last - other_first) + 1)


def _earlier(finding: Finding, before: Watch | None) -> Sighting | None:
    same = [each for each in before.sightings if _is_same(finding, each)] if before else []
    return min(same, key=lambda each: (not each.is_told, each.first_steps), default=None)


def _is_big(finding: Finding, steps: int, wall_seconds: float) -> bool:
    rows = finding.rows[1] - finding.rows[0] + 1
    return (
        rows >= min(_LEAST_ROWS, _LEAST_SHARE * steps)
        or finding.lost_seconds >= _LEAST_SHARE * wall_seconds
    )


def _keep(diagnosis: Diagnosis, told: list[Finding]) -> Diagnosis:
    """The diagnosis with only these findings; the seconds of the others are healthy."""
    if len(told) == len(diagnosis.findings):
        return diagnosis
    healthy = diagnosis.healthy_per_step
    lost: dict[str, float] = {}
    for finding in diagnosis.findings:
        if any(finding is each for each in told):
            lost[finding.source] = lost.get(finding.source, 0.0) + finding.lost_seconds
        else:
            healthy = healthy + finding.lost_per_step
    ledger = diagnosis.ledger
    withheld = sum(ledger.lost.values()) - sum(lost.values())
    ledger = replace(ledger, lost=lost, healthy_seconds=ledger.healthy_seconds + withheld)
    steady = len(healthy) - diagnosis.warm_up_rows
    return replace(
        diagnosis,
        verdict=judge(told, ledger, steady),
        ledger=ledger,
        findings=tuple(told),
        healthy_per_step=healthy,
    )


def _take_back(sighting: Sighting, diagnosis: Diagnosis, numbers: Sequence[int] | Int) -> str:
    first, last = sighting.rows
    seconds = wording.ledger_seconds(sighting.lost_seconds)
    what = f"{_AS_NOUN[sighting.pattern]} of {_title(sighting.source)} ({seconds} in steps "
    what += f"{wording.step_range(int(numbers[first]), int(numbers[last]))})"
    taker = next(
        (
            finding
            for finding in diagnosis.findings
            if finding.lost_per_step[first : last + 1].sum() >= _SAME * sighting.lost_seconds
        ),
        None,
    )
    if taker is not None:
        reason = f"these seconds now belong to {_title(taker.source)}"
    else:
        share = wording.percent(sighting.lost_seconds / diagnosis.ledger.wall_seconds)
        reason = f"it was {share} of the run as it is now, and the steps since do not bear it out"
    return f"Taken back at step {int(numbers[-1]):,}: {what}; {reason}."


def _title(source: str) -> str:
    """A source of findings as it stands in a sentence."""
    if source == CORE:
        return "the step's own time"
    family, detail = names.family(source), names.detail(source)
    title = family.replace("_", " ")
    # Only these families have a detail that the user named.
    is_named = family in (names.CALLBACK, names.CHECKPOINT, names.PHASE)
    return f"{title} {detail}" if detail and is_named else title
