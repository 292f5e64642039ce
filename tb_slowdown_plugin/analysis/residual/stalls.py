"""Single steps and short stretches that are far too slow: whose are they, and do they come back?

Asked in this order: a stretch that came and went; what follows a retrace; the
boundary of epochs; a period. What nobody takes stays unexplained if it is much.

A measured event may also cost more in the steps around it than its own clock says. A new graph is
slower at its second run, too, and caches are cold after a long trace. Seconds that are bound to the
event step by step belong to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.ledger.findings import make_finding
from tb_slowdown_plugin.analysis.prepare.steps import Steps
from tb_slowdown_plugin.analysis.stats.change_points import Excursion
from tb_slowdown_plugin.analysis.stats.events import find_events, find_stalls
from tb_slowdown_plugin.analysis.stats.few_steps import find_period
from tb_slowdown_plugin.analysis.stats.noise import deviation
from tb_slowdown_plugin.analysis.stats.periods import Repeat, find_repeats
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.analysis.stats.trend import Trend
from tb_slowdown_plugin.analysis.types import CORE, Finding, Pattern
from tb_slowdown_plugin.catalog.accounts import rule_of
from tb_slowdown_plugin.catalog.parameters.ledger import (
    FLAT_FLOOR,
    GROWTH_FLOOR,
    SURE_EVENTS,
    SURE_STEPS,
)
from tb_slowdown_plugin.catalog.parameters.residual import LONGEST_USUAL_STALL, STALL
from tb_slowdown_plugin.catalog.parameters.shared import ENOUGH_STEPS, MAJORITY, MOSTLY, OUTLIER
from tb_slowdown_plugin.catalog.parameters.stats import EXCESS, REPEAT_SIGNIFICANCE
from tb_slowdown_plugin.records.types import Float, Int

_MEDIAN_ERROR: Final = 1.25
"""Standard error of a median over that of a mean, of normal values."""


@dataclass(slots=True)
class Stalls:
    """What is too slow and has not been given to anything yet, and what has been."""

    excess: Float
    """(S,) seconds above the level that are still nobody's; 0 in the warm-up."""
    residual: Float
    """(S,) the same, relative to the level, with the sign; 0 where it is somebody's."""
    sigma: float
    warm_up: Float
    """(S,) seconds that the first steps took above the level."""
    warm_up_rows: int
    wall_seconds: float
    findings: list[Finding] = field(default_factory=list)
    unexplained: Float = field(default_factory=lambda: np.zeros(0))

    def claim(
        self,
        source: str,
        pattern: Pattern,
        groups: list[Int],
        floor: float,
        numbers: dict[str, float] | None = None,
    ) -> None:
        """Gives the stalls in some rows to a finding, if they are above its floor.

        Args:
          source: Whose they are.
          pattern: How they come.
          groups: Rows; within a group the stalls are alike, so that a far longer one
            is given only in part.
          floor: Share of the wall.
          numbers: For the finding.
        """
        lost = np.zeros(len(self.excess))
        for rows in groups:
            steady = rows[rows >= self.warm_up_rows]
            taken = self.excess[steady]
            if not taken.any():
                continue
            most = LONGEST_USUAL_STALL * float(np.median(taken[taken > 0]))
            lost[steady] = np.minimum(taken, most)
            # What comes back has come in the first steps, too, and was not warm-up there.
            opening = rows[rows < self.warm_up_rows]
            lost[opening] = np.minimum(self.warm_up[opening], lost[steady].max())
        if not lost.any() or lost.sum() < floor * self.wall_seconds:
            return
        self.findings.append(make_finding(source, pattern, lost, "medium", numbers))
        self.excess = np.maximum(self.excess - lost, 0.0)
        self.warm_up = np.maximum(self.warm_up - lost, 0.0)
        for rows in groups:
            self.residual[rows] = 0.0


def judge_stalls(
    steps: Steps, core: Float, expected: Float, trend: Trend, warm_up: Float, start: int
) -> Stalls:
    """Gives each stall to what it belongs to.

    Args:
      steps: The run.
      core: (S,) seconds; 0 in steps of which nothing is known.
      expected: (S,) seconds at the fitted level; its memory is used anew.
      trend: The core's.
      warm_up: (S,) seconds above the level in the warm-up rows, 0 in later ones.
      start: First row after the warm-up.
    """
    excess = core - expected
    # Where less is expected than any clock tells, it stays so. Of ten million steps another array
    # would be 80 MB.
    is_told = expected > np.finfo(float).eps
    residual = np.divide(excess, expected, out=expected, where=is_told)
    period = find_period(residual, start) if len(core) - start < SURE_STEPS else None
    excess[:start] = residual[:start] = 0.0
    sigma = max(deviation(residual[start:]), 1e-3)
    np.maximum(excess, 0.0, out=excess)
    stalls = Stalls(excess, residual, sigma, warm_up, start, steps.wall_seconds)
    stalls.unexplained = np.zeros(len(excess))
    for excursion in trend.excursions:
        _judge_excursion(stalls, trend, excursion)
    aftermath = find_aftermath(steps, stalls.residual, start)
    if aftermath is not None:
        account, rows = aftermath
        stalls.claim(account, "flat", [rows], GROWTH_FLOOR)
    if period is not None:
        stalls.claim(CORE, "periodic", list(period.groups), FLAT_FLOOR, _describe(period))
    _judge_repeats(stalls, steps)
    alone = np.flatnonzero(stalls.residual > max(STALL, OUTLIER * sigma))
    scattered = _only(stalls.excess, alone)
    if scattered.sum() >= FLAT_FLOOR * steps.wall_seconds:
        stalls.unexplained += scattered
    return stalls


def _judge_excursion(stalls: Stalls, trend: Trend, excursion: Excursion) -> None:
    """A stretch that came and went is named if it is long; at the end it may be more."""
    first, end = int(trend.edges[excursion.first]), int(trend.edges[excursion.end])
    rows = np.arange(max(first, stalls.warm_up_rows), end)
    lost = _only(stalls.excess, rows)
    stalls.residual[first:end] = 0.0
    if excursion.unfinished and lost.sum() >= GROWTH_FLOOR * stalls.wall_seconds:
        stalls.unexplained += lost
        stalls.excess[rows] = 0.0
    elif lost.sum() >= FLAT_FLOOR * stalls.wall_seconds:
        stalls.findings.append(make_finding(CORE, "one_off", lost, "medium"))
        stalls.excess[rows] = 0.0


def _judge_repeats(stalls: Stalls, steps: Steps) -> None:
    """Stalls beside epoch boundaries and with a period; a short period may meet both."""
    start, sigma = stalls.warm_up_rows, stalls.sigma
    boundaries = find_stalls(stalls.residual, sigma, steps.epochs, start)
    rest = stalls.residual.copy() if boundaries else stalls.residual
    for rows in boundaries:
        rest[rows] = 0.0
    repeats = find_repeats(rest, sigma, steps.seconds)
    if any(_covers(repeat.rows, rows) for repeat in repeats for rows in boundaries):
        boundaries = []
        repeats = find_repeats(stalls.residual, sigma, steps.seconds)
    if boundaries:
        events = float(sum(len(rows) for rows in boundaries))
        stalls.claim(CORE, "epoch_boundary", boundaries, FLAT_FLOOR, {"events": events})
    for repeat in repeats:
        stalls.claim(CORE, "periodic", list(repeat.groups), FLAT_FLOOR, _describe(repeat))


def _describe(repeat: Repeat) -> dict[str, float]:
    unit = "period_seconds" if repeat.by_clock else "period_steps"
    return {unit: repeat.period, "z": repeat.z, "events": float(len(repeat.rows))}


def _only(values: Float, rows: Int) -> Float:
    kept = np.zeros(len(values))
    kept[rows] = values[rows]
    return kept


def _covers(rows: Int, boundary: Int) -> bool:
    """Whether the boundaries lie on the grid of a period that is shorter than an epoch."""
    if len(boundary) < 2 or len(rows) < 2:
        return False
    period = float(np.median(np.diff(rows)))
    if period > MOSTLY * float(np.median(np.diff(boundary))):
        return False
    offsets = (boundary - rows[0]) % period
    return bool(np.mean(np.minimum(offsets, period - offsets) < 0.5) > MAJORITY)


def find_aftermath(steps: Steps, residual: Float, start: int) -> tuple[str, Int] | None:
    """Rows whose core is slow because something that should never happen happened there.

    Args:
      steps: The run.
      residual: (S,) relative excess of each core over its level.
      start: First row after warm-up.

    Returns:
      The account of class "never" with the most seconds, and the rows: those of
      its events, the ones that follow, or both. None if they are like the rest.
    """
    never = {
        name: column
        for name, column in steps.accounts.items()
        if rule_of(name).class_ == "never" and column[start:].any()
    }
    if not never:
        return None
    account = max(never, key=lambda name: float(never[name].sum()))
    events = find_events(never[account])
    events = events[events >= start]
    following = np.setdiff1d(events + 1, events)
    following = following[following < len(steps)]
    quiet = np.ones(len(steps), bool)
    quiet[:start] = False
    quiet[events] = False
    quiet[following] = False
    rest = residual[quiet]
    if len(events) < SURE_EVENTS or len(rest) < ENOUGH_STEPS:
        return None
    usual = deviation(rest), median(rest)
    slow = [rows for rows in (events, following) if _is_slower(residual[rows], *usual, len(rest))]
    return (account, np.sort(np.concatenate(slow))) if slow else None


def _is_slower(values: Float, sigma: float, usual: float, count: int) -> bool:
    """Whether values are above `count` others, of which deviation and median are given."""
    if len(values) < SURE_EVENTS:
        return False
    difference = float(np.median(values)) - usual
    spread = max(deviation(values), sigma, 1e-3)
    z = difference / (_MEDIAN_ERROR * spread * np.sqrt(1 / len(values) + 1 / count))
    return difference >= EXCESS and z >= REPEAT_SIGNIFICANCE
