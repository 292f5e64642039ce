"""What a rule is given and what it hands back."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.prepare.function_traces import TracedGraph
from tb_slowdown_plugin.analysis.prepare.step_kinds import StepKinds, find_kinds
from tb_slowdown_plugin.analysis.report_types.causes import Advice, CausePart, Place
from tb_slowdown_plugin.analysis.text import wording
from tb_slowdown_plugin.analysis.types import (
    STALLS,
    Confidence,
    Diagnosis,
    Finding,
    Pattern,
    zero_where_unknown,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import CALLBACK_MADE_AT
from tb_slowdown_plugin.catalog.parameters.ledger import FLAT_FLOOR
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float, GcPause, Int

CORE = "core"

_PLACE: Final = re.compile(
    r"(?:(?P<function>[^()]+) \()?(?P<file>[^()]+):(?P<line>\d+)\)?(?::.*)?", re.DOTALL
)

Mask: TypeAlias = NDArray[np.bool_]
"""(S,) a choice of rows."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A cause that a rule has found, with the findings that it explains."""

    cause: str
    findings: tuple[Finding, ...]
    """Not empty; their seconds are the cause's."""
    subject: str
    """The cause in a headline: "retracing of train_step (train.py:41)"."""
    summary: str
    evidence: tuple[str, ...]
    advice: tuple[Advice, ...]
    confidence: Confidence | None = None
    """None: that of the largest finding."""
    pattern: Pattern | None = None
    """None: that of the largest finding."""
    parts: tuple[CausePart, ...] = ()
    external: bool = False
    """Whether the time was taken from outside of the program."""
    place: Place | None = None
    """The line to change."""


@dataclass(frozen=True, slots=True)
class Case:
    """A run, its diagnosis, and the findings that no earlier rule has claimed."""

    run: Run
    diagnosis: Diagnosis
    findings: tuple[Finding, ...]
    graphs: tuple[TracedGraph, ...]
    kinds: StepKinds | None = None
    """How its steps may be compared; None before they are sought."""

    @property
    def comparable(self) -> StepKinds:
        """How its steps may be compared: sought once for a report, 0.1 s of 1,000,000 steps."""
        return self.kinds or find_kinds(self.run)

    def of(self, *families: str) -> tuple[Finding, ...]:
        """Findings in accounts of these families, warm-up excepted."""
        return tuple(
            finding
            for finding in self.findings
            if names.family(finding.source) in families and finding.pattern != "warm_up"
        )

    def defect(
        self,
        main: Finding,
        found: tuple[Finding, ...],
        whose: Callable[[Finding], str] = lambda finding: finding.source,
    ) -> tuple[Finding, ...]:
        """The findings of one of several defects, and those of others too small for their own row.

        Args:
          main: Of the one.
          found: All.
          whose: What of the program a finding belongs to.
        """
        lost: dict[str, float] = defaultdict(float)
        for finding in found:
            lost[whose(finding)] += finding.lost_seconds
        return tuple(
            finding
            for finding in found
            if whose(finding) == whose(main) or self.wall_share(lost[whose(finding)]) < FLAT_FLOOR
        )

    def core(self) -> tuple[Finding, ...]:
        """Findings in the step time that no account explains, warm-up excepted."""
        return self.of(CORE)

    def part(self, own: Iterable[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Some of the findings, and the others."""
        chosen = tuple(own)
        ids = {id(finding) for finding in chosen}
        return chosen, tuple(finding for finding in self.findings if id(finding) not in ids)

    def stalls(self) -> tuple[Finding, ...]:
        """Single steps that are far too slow, for no reason that the engine knows."""
        return self.of(STALLS)

    def step(self, row: int) -> int:
        """The number of the step in a row."""
        number = self.run.steps.number
        return int(number[min(max(row, 0), len(number) - 1)])

    def steps(self, rows: tuple[int, int]) -> tuple[int, int]:
        """The numbers of the first and the last step of a range of rows.

        Where a program counts from 0 in each epoch and the range begins late in one and ends early
        in another, the least and the largest of the range.
        """
        first, last = self.step(rows[0]), self.step(rows[1])
        if first > last:
            inside = self.run.steps.number[rows[0] : rows[1] + 1]
            first, last = int(inside.min()), int(inside.max())
        return first, last

    def step_text(self, row: int) -> str:
        """A step as it stands in a sentence.

        "step 1,280"
        """
        return f"step {self.step(row):,}"

    def steps_text(self, rows: tuple[int, int]) -> str:
        """A range of steps as it stands in a sentence."""
        first, last = self.steps(rows)
        noun = "step" if first == last else "steps"
        return f"{noun} {wording.step_range(first, last)}"

    def account(self, family: str, detail: str | None = None) -> Float:
        """(S,) seconds in all accounts of a family, or in one account; 0 where not measured."""
        found = [
            zero_where_unknown(seconds)
            for name, seconds in self.run.steps.accounts.items()
            if names.family(name) == family and detail in (None, names.detail(name))
        ]
        return found[0] if len(found) == 1 else sum(found, np.zeros(len(self.run.steps)))

    def details(self, family: str) -> tuple[tuple[str, float], ...]:
        """(detail, seconds) of a family's accounts, the largest first."""
        found = [
            (names.detail(name), float(np.nansum(seconds)))
            for name, seconds in self.run.steps.accounts.items()
            if names.family(name) == family
        ]
        return tuple(sorted(found, key=lambda pair: -pair[1]))

    def signal(self, name: str) -> tuple[Int, Float]:
        """Rows and values of the samples of a signal that were measured."""
        values = self.run.signals.values.get(name)
        if values is None:
            return np.empty(0, np.int64), np.empty(0)
        known = ~np.isnan(values)
        return self.run.signals.row[known], values[known]

    def signals_of(self, family: str) -> tuple[str, ...]:
        """Names of the signals of a family: one a device."""
        return tuple(name for name in self.run.signals.values if names.family(name) == family)

    def gc_pauses(self) -> tuple[tuple[int, GcPause], ...]:
        """(row, pause) of the collections that stopped the training thread."""
        return tuple((row, pause) for row, pause in self.run.all_of(GcPause) if not pause.elsewhere)

    def made_at(self, account: str) -> Place | None:
        """The line that makes the callback of an account, where it is one."""
        made = (fact.subject.partition(" ") for _, fact in self.run.facts(CALLBACK_MADE_AT))
        lines = {line for who, _, line in made if who == account}
        return to_place(lines.pop(), names.detail(account)) if len(lines) == 1 else None

    def wall_share(self, seconds: float) -> float:
        """A share of the run's wall time."""
        wall = self.diagnosis.ledger.wall_seconds
        return seconds / wall if wall > 0 else 0.0


def to_place(text: str, function: str = "") -> Place | None:
    """The place in a text of a record; None where it has none that a file can be found by.

    Example:
      >>> to_place("Replay.sample (agent.py:88)")
      Place(file='agent.py', line=88, function='Replay.sample')
      >>> to_place("train.py:41", "predict").function
      'predict'
      >>> to_place("<stdin>:3") is None
      True
    """
    found = _PLACE.fullmatch(text)
    if found is None or found["file"].startswith("<"):
        return None
    named = (found["function"] or "").removeprefix("<module>")
    return Place(found["file"], int(found["line"]), function or named)


def lost_seconds(findings: tuple[Finding, ...]) -> float:
    """The seconds of several findings."""
    return float(sum(finding.lost_seconds for finding in findings))


def largest(findings: tuple[Finding, ...]) -> Finding:
    """The finding that lost most."""
    return max(findings, key=lambda finding: finding.lost_seconds)


def span(findings: tuple[Finding, ...]) -> tuple[int, int]:
    """First and last row in which any of them costs time."""
    return (
        min(finding.rows[0] for finding in findings),
        max(finding.rows[1] for finding in findings),
    )


def stalls_of(diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """What the engine left unexplained, as a finding that a rule may claim; empty if nothing."""
    lost = diagnosis.unexplained_per_step
    rows = np.flatnonzero(lost)
    if not len(rows):
        return ()
    span_rows = (int(rows[0]), int(rows[-1]))
    return (Finding(STALLS, "one_off", span_rows, float(lost.sum()), lost, "medium"),)
