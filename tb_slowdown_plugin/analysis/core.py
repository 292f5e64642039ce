"""What the core of the steps, the time that no account explains, lost, and in which pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.accounts import FLAT_FLOOR, GROWTH_FLOOR
from tb_slowdown_plugin.analysis.aftermath import find_aftermath
from tb_slowdown_plugin.analysis.buckets import bucket
from tb_slowdown_plugin.analysis.changes import SIGNIFICANCE, SIGNIFICANCE_OF_SHORT
from tb_slowdown_plugin.analysis.contention import CONTENTION
from tb_slowdown_plugin.analysis.epochs import find_stalls
from tb_slowdown_plugin.analysis.findings import (
    CORE,
    book_rise,
    describe_rise,
    floor_of,
    is_loss,
    make_finding,
)
from tb_slowdown_plugin.analysis.noise import deviation
from tb_slowdown_plugin.analysis.periods import find_repeats
from tb_slowdown_plugin.analysis.steps import Steps
from tb_slowdown_plugin.analysis.trend import Trend, fit_trend
from tb_slowdown_plugin.analysis.types import Finding, Pattern
from tb_slowdown_plugin.records import names
from tb_slowdown_plugin.records.types import Float, Int

SHORT_RUN: Final = 2000
_MOST_OF_USUAL: Final = 4.0
_STALL: Final = 1.0
"""A single step is a stall from this relative excess (and 8 sigma) on."""


@dataclass(frozen=True, slots=True)
class CoreView:
    """What the core shows."""

    findings: list[Finding]
    unexplained: Float
    """(S,) seconds of stalls and of a last stretch that no pattern holds."""


def fit_core(core: Float, usual: Float, start: int) -> Trend | None:
    """The trend of the core, in multiples of the usual step of its kind and size.

    Args:
      core: (S,) seconds.
      usual: (S,) seconds that the step usually takes; NaN where nothing is known.
      start: First row to look at.
    """
    if not np.any(usual[start:] > 0):
        return None
    relative = np.log(np.maximum(core / usual, 1e-3))
    # A step of a kind that is too rare to be judged is taken to be as usual.
    relative[np.isnan(relative)] = 0.0
    significance = SIGNIFICANCE_OF_SHORT if len(core) < SHORT_RUN else SIGNIFICANCE
    return fit_trend(bucket(relative, start), relative, significance)


def judge_core(steps: Steps, usual: Float, trend: Trend | None, warm_up_rows: int) -> CoreView:
    """Names what the core lost.

    Args:
      steps: The run.
      usual: (S,) as for `fit_core`.
      trend: The core's trend; None where the run is too short for one.
      warm_up_rows: Rows before the run was steady.
    """
    wall = steps.wall_seconds
    core = np.where(np.isnan(usual), 0.0, steps.core)
    unexplained = np.zeros(len(steps))
    level = _spread_level(trend, len(steps), warm_up_rows)
    expected = np.where(np.isnan(usual), 0.0, usual * level)
    warm_up = np.zeros(len(steps))
    warm_up[:warm_up_rows] = np.maximum(core - expected, 0.0)[:warm_up_rows]
    findings: list[Finding] = []
    if trend is not None:
        typical = float(np.nanmedian(usual))
        for rise in trend.rises:
            lost = book_rise(core, trend, rise)
            if is_loss(rise) and lost.sum() >= floor_of(rise) * wall:
                numbers = describe_rise(rise, typical)
                source = _find_remainder(steps, lost) or _find_carrier(steps, usual, lost, numbers)
                findings.append(make_finding(source, rise.pattern, lost, "medium", numbers))
        repeats, unexplained, warm_up = _judge_stalls(
            steps, core, expected, trend, warm_up_rows, warm_up
        )
        findings += repeats
    if warm_up.sum() >= GROWTH_FLOOR * wall:
        findings.append(make_finding(CORE, "warm_up", warm_up, "high"))
    return CoreView(findings, unexplained)


def _spread_level(trend: Trend | None, count: int, warm_up_rows: int) -> Float:
    level = np.ones(count)
    if trend is not None:
        level[trend.edges[0] : trend.edges[-1]] = trend.spread(trend.level)
        level[:warm_up_rows] = trend.level[trend.warm_up]
    return level


def _find_remainder(steps: Steps, lost: Float) -> str | None:
    """The contention account of which a rise is what an inexact split has left over."""
    for name, column in steps.accounts.items():
        if names.family(name) == CONTENTION:
            inside = column > 0
            held = float(lost[inside].sum())
            if held >= 0.8 * lost.sum() and held < 0.25 * float(column[lost > 0].sum()):
                return name
    return None


def _find_carrier(steps: Steps, usual: Float, lost: Float, numbers: dict[str, float]) -> str:
    """The backward pass or the optimizer if most of a rise happens there, else the core.

    The shares of all phases go into `numbers`.
    """
    inside = lost > 0
    outside = ~inside & ~np.isnan(usual)
    growing = not outside.any() or numbers["growth_fraction"] == 0
    best, most = CORE, 0.7
    for name in steps.parts:
        column = steps.accounts[name]
        if growing:
            half = len(steps) // 2
            rise = column[half:].mean() - column[:half].mean()
            whole = steps.core[half:].mean() - steps.core[:half].mean()
        else:
            rise = column[inside].mean() - column[outside].mean()
            whole = steps.core[inside].mean() - steps.core[outside].mean()
        share = float(rise / whole) if whole > 0 else 0.0
        numbers[f"share:{name}"] = share
        if share > most and name in (names.BACKWARD, names.OPTIMIZER):
            best, most = name, share
    return best


def _judge_stalls(
    steps: Steps, core: Float, expected: Float, trend: Trend, warm_up_rows: int, warm_up: Float
) -> tuple[list[Finding], Float, Float]:
    """Stalls at epochs, periodic stalls, and long ones; what is left is unexplained."""
    wall = steps.wall_seconds
    excess = core - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        residual = np.where(expected > 0, excess / expected, 0.0)
    residual[:warm_up_rows] = 0.0
    sigma = max(deviation(residual[warm_up_rows:]), 1e-3)
    np.maximum(excess, 0.0, out=excess)
    findings = []
    unexplained = np.zeros(len(steps))
    for excursion in trend.excursions:
        first, end = int(trend.edges[excursion.first]), int(trend.edges[excursion.end])
        lost = _only(excess, slice(max(first, warm_up_rows), end))
        residual[first:end] = 0.0
        if excursion.unfinished and lost.sum() >= GROWTH_FLOOR * wall:
            unexplained += lost
        elif lost.sum() >= FLAT_FLOOR * wall:
            findings.append(make_finding(CORE, "one_off", lost, "medium"))
    aftermath = find_aftermath(steps, residual, warm_up_rows)
    if aftermath is not None:
        account, rows = aftermath
        lost = _only(excess, rows)
        if lost.sum() >= GROWTH_FLOOR * wall:
            findings.append(make_finding(account, "flat", lost, "medium"))
            residual[rows] = 0.0
    boundary = find_stalls(residual, sigma, steps.epochs, warm_up_rows)
    rest = residual.copy()
    rest[boundary] = 0.0
    repeats = find_repeats(rest, sigma, steps.seconds)
    if any(_covers(each.rows, boundary) for each in repeats):
        boundary = boundary[:0]
        repeats = find_repeats(residual, sigma, steps.seconds)
    patterns: list[tuple[Pattern, Int, dict[str, float]]] = []
    if len(boundary):
        opening = steps.epochs[steps.epochs < warm_up_rows]
        rows = np.concatenate([opening, boundary])
        patterns.append(("epoch_boundary", rows, {"events": float(len(rows))}))
    for repeat in repeats:
        unit = "period_seconds" if repeat.by_clock else "period_steps"
        numbers = {unit: repeat.period, "z": repeat.z, "events": float(len(repeat.rows))}
        patterns.append(("periodic", repeat.rows, numbers))
    for pattern, rows, numbers in patterns:
        lost = _only(excess, rows[rows >= warm_up_rows])
        if not lost.any():
            continue
        # A step that stalled for another reason, far longer, is not what comes back.
        np.minimum(lost, _MOST_OF_USUAL * float(np.median(lost[lost > 0])), out=lost)
        # What comes back has come in the first steps, too, and was not warm-up there.
        opening = rows[rows < warm_up_rows]
        lost[opening] = np.minimum(warm_up[opening], lost.max())
        if lost.sum() >= FLAT_FLOOR * wall:
            warm_up = warm_up - _only(lost, opening)
            findings.append(make_finding(CORE, pattern, lost, "medium", numbers))
            residual[rows] = 0.0
            excess = excess - lost
    stalls = np.flatnonzero(residual > max(_STALL, 8 * sigma))
    scattered = _only(excess, stalls)
    if scattered.sum() >= FLAT_FLOOR * wall:
        unexplained += scattered
    return findings, unexplained, warm_up


def _only(values: Float, rows: Int | slice) -> Float:
    kept = np.zeros_like(values)
    kept[rows] = values[rows]
    return kept


def _covers(rows: Int, boundary: Int) -> bool:
    """Whether the boundaries lie on the grid of a period that is shorter than an epoch."""
    if len(boundary) < 2 or len(rows) < 2:
        return False
    period = float(np.median(np.diff(rows)))
    if period > 0.7 * float(np.median(np.diff(boundary))):
        return False
    offsets = (boundary - rows[0]) % period
    return bool(np.mean(np.minimum(offsets, period - offsets) < 0.5) > 0.5)
