"""What the core of the steps, the time that no account explains, lost, and in which pattern."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tb_slowdown_plugin.analysis.ledger.findings import find_losses, floor_of, make_finding
from tb_slowdown_plugin.analysis.prepare.steps import Steps
from tb_slowdown_plugin.analysis.prepare.work import Work, compare_work, find_seen_only_inside
from tb_slowdown_plugin.analysis.residual.stalls import judge_stalls
from tb_slowdown_plugin.analysis.residual.warm_up_end import book_warm_up, find_cooled
from tb_slowdown_plugin.analysis.stats.buckets import bucket
from tb_slowdown_plugin.analysis.stats.few_steps import find_two_levels
from tb_slowdown_plugin.analysis.stats.quantiles import quantiles
from tb_slowdown_plugin.analysis.stats.trend import Trend, fit_trend
from tb_slowdown_plugin.analysis.types import CORE, Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION, STARVED
from tb_slowdown_plugin.catalog.parameters.ledger import (
    GROWTH_FLOOR,
    INPUT_FLOOR,
    SURE_STEPS,
)
from tb_slowdown_plugin.catalog.parameters.residual import SHORT_RUN
from tb_slowdown_plugin.catalog.parameters.shared import (
    MATTERS,
    MOSTLY,
    SHORTEST_SECONDS,
)
from tb_slowdown_plugin.catalog.parameters.stats import (
    SIGNIFICANCE,
    SIGNIFICANCE_OF_SHORT,
)
from tb_slowdown_plugin.records.types import Float


@dataclass(frozen=True, slots=True)
class CoreView:
    """What the core shows."""

    findings: list[Finding]
    unexplained: Float
    """(S,) seconds of stalls and of a last stretch that no pattern holds."""
    warm_up_rows: int
    """Rows before the run was steady."""


def fit_steps(
    steps: Steps,
    start: int,
    kinds: ArrayLike | None,
    items: ArrayLike | None,
    *,
    enough: bool,
) -> tuple[Steps, Float, Trend | None]:
    """The run, the usual seconds of each step (S,), and the trend of the core.

    Args:
      steps: The run. A wait for input that the core gives back is in the core afterwards.
      start: First row to look at.
      kinds: (S,) as for `work.compare_work`, and so are `items`.
      items: (S,)
      enough: Whether there are enough steps for a trend.
    """
    work = compare_work(steps.core, start, kinds, items)
    if not enough:
        return steps, work.usual, None
    trend = _fit_work(steps.core, work, start)
    joined = _join_traded_wait(steps, trend)
    if joined is not None:
        of_both = compare_work(joined.core, start, kinds, items)
        trend_of_both = _fit_work(joined.core, of_both, start)
        if trend_of_both is not None and not trend_of_both.rises:
            return joined, of_both.usual, trend_of_both
    return steps, work.usual, trend


def _fit_work(core: Float, work: Work, start: int) -> Trend | None:
    """The trend of all steps; where these don't get slower, that of a few of them that do."""
    trend = fit_core(core, work.usual, start, work.leading)
    if trend is None or trend.rises:
        return trend
    for few in work.few:
        before = int(np.count_nonzero(few[:start]))
        if np.count_nonzero(few) - before >= SURE_STEPS:
            of_few = fit_core(core[few], work.usual[few], before)
            if of_few is not None and of_few.rises:
                return of_few.place_among(few)
    return trend


def _join_traded_wait(steps: Steps, trend: Trend | None) -> Steps | None:
    """The run with its input wait in the step's own work, where that gets shorter, else None.

    On two cores threads trade places for no reason: steps of 44 ms that wait for 10 ms of them
    from some step on lose nothing by it, if they computed for so much longer before.
    """
    wait = steps.accounts.get(names.INPUT_WAIT)
    if trend is None or wait is None or not any(rise.at_start for rise in trend.rises):
        return None
    if wait.sum() >= INPUT_FLOOR * steps.wall_seconds:
        return None
    others = {name: each for name, each in steps.accounts.items() if name != names.INPUT_WAIT}
    return replace(steps, core=steps.core + wait, accounts=others)


def fit_core(
    core: Float, usual: Float, start: int, leading: NDArray[np.bool_] | None = None
) -> Trend | None:
    """The trend of the core, in multiples of the usual step of its kind and size.

    Args:
      core: (S,) seconds.
      usual: (S,) seconds that the step usually takes; NaN where nothing is known.
      start: First row to look at.
      leading: (S,) steps that take most of the time though they are few, as by
        `work.find_leading`. If they rise, it is their trend; they would be outliers in that of all.

    Returns:
      None where nothing is known of any step, or all are too short to tell.
    """
    if leading is not None:
        before = int(np.count_nonzero(leading[:start]))
        trend = fit_core(core[leading], usual[leading], before)
        if trend is not None and trend.rises:
            return trend.place_among(leading)
    if not np.any(usual[start:] > 0) or np.mean(core[start:]) < SHORTEST_SECONDS:
        return None
    # Of a step that usually takes less than any clock tells, nothing is known.
    is_told = usual > np.finfo(float).eps
    relative = np.divide(core, usual, out=np.full(len(core), np.nan), where=is_told)
    np.maximum(relative, 1e-3, out=relative)
    np.log(relative, out=relative)
    # A step of a kind that is too rare to be judged is taken to be as usual.
    relative[np.isnan(relative)] = 0.0
    significance = SIGNIFICANCE_OF_SHORT if len(core) < SHORT_RUN else SIGNIFICANCE
    trend = fit_trend(bucket(relative, start), relative, significance)
    if len(core) - start < SURE_STEPS and not trend.rises:
        return find_two_levels(relative, start) or trend
    return trend


def judge_core(
    steps: Steps,
    usual: Float,
    trend: Trend | None,
    warm_up_rows: int,
    kinds: ArrayLike | None = None,
) -> CoreView:
    """Names what the core lost.

    Args:
      steps: The run.
      usual: (S,) as for `fit_core`.
      trend: The core's trend; None where the run is too short for one.
      warm_up_rows: Rows before the run was steady.
      kinds: (S,) as for `work.compare_work`. A kind that came after a jump has not jumped.
    """
    wall = steps.wall_seconds
    unknown = np.isnan(usual)
    core = np.where(unknown, 0.0, steps.core) if unknown.any() else steps.core
    unexplained = np.zeros(len(steps))
    expected = usual * _spread_level(trend, len(steps), warm_up_rows)
    expected[unknown] = 0.0
    first_rows = int(trend.edges[0]) if trend is not None and trend.warm_up else warm_up_rows
    warm_up_rows = find_cooled(core, expected, first_rows, warm_up_rows)
    warm_up = book_warm_up(core[:warm_up_rows] - expected[:warm_up_rows], len(steps))
    findings: list[Finding] = []
    if trend is not None:
        typical = float(np.nanmedian(usual if trend.members is None else usual[trend.members]))
        for rise, share, numbers in find_losses(trend, typical):
            lost = np.multiply(core, share, out=share)  # of ten million steps one more is 80 MB
            if rise.pattern == "level_shift":
                elsewhere = find_seen_only_inside(lost > 0, warm_up_rows, kinds)
                if elsewhere is not None:
                    lost[elsewhere] = 0.0
            if lost.sum() >= floor_of(rise) * wall:
                numbers |= _share_among_parts(steps, usual, lost, warm_up_rows)
                source = _find_remainder(steps, lost) or CORE
                findings.append(make_finding(source, rise.pattern, lost, "medium", numbers))
        stalls = judge_stalls(steps, core, expected, trend, warm_up, warm_up_rows)
        findings += stalls.findings
        unexplained, warm_up = stalls.unexplained, stalls.warm_up
    if warm_up.sum() >= GROWTH_FLOOR * wall:
        findings.append(make_finding(CORE, "warm_up", warm_up, "high"))
    return CoreView(findings, unexplained, warm_up_rows)


def _spread_level(trend: Trend | None, count: int, warm_up_rows: int) -> Float:
    level = np.ones(count)
    if trend is not None:
        level[trend.edges[0] : trend.edges[-1]] = trend.spread(trend.level)
        level[:warm_up_rows] = trend.level[trend.warm_up]
        if trend.members is not None:
            level[~trend.members] = 1.0
    return level


def _find_remainder(steps: Steps, lost: Float) -> str | None:
    """The contention account of which a rise is what an inexact split has left over.

    A split leaves more over where others took more than elsewhere. Those who take the same
    share of the time from the first to the last step leave no rise behind, however much
    they take: then it is the program's.
    """
    for name, column in steps.accounts.items():
        if names.family(name) == CONTENTION:
            inside = column > 0
            held = float(lost[inside].sum())
            more = _seconds_beyond_usual(column, steps.core, lost)
            if held >= MOSTLY * lost.sum() and held < MATTERS * more:
                return name
    return None


def _seconds_beyond_usual(column: Float, core: Float, lost: Float) -> float:
    """What contention took in the rows of a rise beyond its share of the time elsewhere.

    Elsewhere are the rows that rise least, a quarter of the run at most.
    """
    share = np.zeros(len(core))
    np.divide(lost, core, out=share, where=core > 0)
    # A jump takes the same share of all its steps: rounding must not tell them apart.
    limit = min(quantiles(share, (MATTERS,))[0], float(share.max()) / 2)
    elsewhere = share <= limit
    undisturbed = float(core[elsewhere].sum())
    usual = float(column[elsewhere].sum()) / undisturbed if undisturbed > 0 else 0.0
    risen = share > limit
    return float(column[risen].sum()) - usual * float(core[risen].sum())


def _share_among_parts(
    steps: Steps, usual: Float, lost: Float, warm_up_rows: int
) -> dict[str, float]:
    """How much of a rise lies in each phase that most steps have: "share:backward" -> 0.9.

    The phases hold what others took of them, so the step is looked at with it, too.
    """
    steady = ~np.isnan(usual)
    steady[:warm_up_rows] = False
    inside = steady & (lost > 0)
    outside = steady & ~inside
    if not outside.any() or not inside.any():
        # It grew from the first step on: compare the halves of the run.
        inside = steady & (np.arange(len(steps)) >= len(steps) // 2)
        outside = steady & ~inside
    if not outside.any() or not inside.any():
        return {}
    step = steps.core + sum(
        column
        for name, column in steps.accounts.items()
        if names.family(name) == CONTENTION and name != STARVED
    )
    whole = float(step[inside].mean() - step[outside].mean())
    if whole <= 0:
        return {}
    columns = {name: steps.accounts[name] for name in steps.parts}
    return {
        f"share:{name}": float(column[inside].mean() - column[outside].mean()) / whole
        for name, column in columns.items()
    }
