"""The engine: from step times and measured seconds to a ledger of lost seconds.

Direct measurement comes first: what an account holds is taken out of the step
time and judged by the account's own rule. What is left, the core, is searched
for structure: warm-up, jumps, growth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tb_slowdown_plugin.analysis.accounts import (
    GROWTH_FLOOR,
    INPUT_FLOOR,
    rule_of,
    starts_with_warm_up,
)
from tb_slowdown_plugin.analysis.buckets import bucket
from tb_slowdown_plugin.analysis.changes import SIGNIFICANCE, SIGNIFICANCE_OF_SHORT
from tb_slowdown_plugin.analysis.ledger import balance
from tb_slowdown_plugin.analysis.steps import Steps, prepare_steps
from tb_slowdown_plugin.analysis.trend import Rise, Trend, fit_trend
from tb_slowdown_plugin.analysis.types import (
    Baseline,
    Confidence,
    Diagnosis,
    Finding,
    Pattern,
    Verdict,
)
from tb_slowdown_plugin.analysis.work import measure_work
from tb_slowdown_plugin.records.types import Float, Int

CORE: Final = "core"
FEWEST_STEADY_ROWS: Final = 100
"""Rows after warm-up below which nothing is said of the run's structure."""
FEWEST_ROWS: Final = 20
"""Rows below which nothing is said at all."""
_SHORT_RUN_FLOOR: Final = 0.3
"""Share of the wall that measured seconds need to be named in a short run."""
_SLOW_START: Final = 0.2
_SLOW_FIRST_PART: Final = 0.25
"""A first part must be so much slower than the best to be called a loss, not a speed-up."""
_MOST_COMPILE_ROWS: Final = 20


def diagnose(
    step_seconds: ArrayLike,
    measured: Mapping[str, ArrayLike] | None = None,
    *,
    epochs: Sequence[int] | Int | None = None,
    kinds: ArrayLike | None = None,
    items: ArrayLike | None = None,
) -> Diagnosis:
    """Tells where the time of a run went, and what of it was lost.

    `S` is the number of steps. Any stream may be missing; NaN means "not
    measured". Nothing here is random and nothing is read from outside.

    Args:
      step_seconds: (S,) seconds from the end of one step to the end of the next.
      measured: Account (`records/names.py`) -> (S,) seconds of the step that
        belong to it alone.
      epochs: Rows at which an epoch begins.
      kinds: (S,) kind of each step; kinds are never compared with each other.
      items: (S,) examples, rows or tokens of each step.

    Returns:
      Verdict, ledger and findings; in each step, healthy, lost and unexplained
      seconds add up to the step time. Losses under the floors of DESIGN section 5
      are healthy.

    Raises:
      UsageError: An array is not of shape (S,).

    Example:
      >>> import numpy as np
      >>> step = np.full(1000, 0.010)
      >>> step[600:] += 0.005
      >>> diagnosis = diagnose(step)
      >>> diagnosis.verdict, diagnosis.findings[0].pattern, diagnosis.findings[0].rows
      ('slowdown', 'level_shift', (600, 999))
      >>> round(diagnosis.ledger.lost["core"], 3)
      2.0
    """
    steps = prepare_steps(step_seconds, measured or {}, epochs)
    nothing = np.zeros(len(steps))
    if len(steps) < FEWEST_ROWS or steps.wall_seconds <= 0:
        return _conclude(steps, [], nothing, _no_baseline(), 0)
    compile_rows = _count_slow_first_rows(steps.seconds)
    steady = len(steps) - compile_rows
    usual = measure_work(steps.core, compile_rows, kinds, items)
    trend = _fit_core(steps, usual, compile_rows) if steady >= FEWEST_STEADY_ROWS else None
    warm_up_rows = compile_rows
    if trend is not None and trend.warm_up:
        warm_up_rows = int(trend.edges[trend.warm_up])
    candidates: list[Finding] = []
    for account in steps.accounts:
        candidates += _judge_account(steps, account, warm_up_rows)
    candidates += _judge_core(steps, usual, trend, warm_up_rows)
    enough = len(steps) - warm_up_rows >= FEWEST_STEADY_ROWS
    if not enough:
        share = _SHORT_RUN_FLOOR * steps.wall_seconds
        candidates = [
            each for each in candidates if each.pattern == "warm_up" or each.lost_seconds >= share
        ]
    baseline = _state_baseline(steps, usual, trend, warm_up_rows)
    return _conclude(steps, candidates, nothing, baseline, warm_up_rows, enough=enough)


def _count_slow_first_rows(seconds: Float) -> int:
    """Leading steps at more than twice the median: tracing, compilation, creation."""
    limit = min(_MOST_COMPILE_ROWS, len(seconds) // 10)
    usual = float(np.median(seconds[limit:]))
    fast = np.flatnonzero(seconds[: limit + 1] <= 2 * usual)
    return int(fast[0]) if len(fast) else limit


def _fit_core(steps: Steps, usual: Float, start: int) -> Trend | None:
    """The trend of the core, in multiples of the usual step of its kind and size."""
    if not np.any(usual[start:] > 0):
        return None
    relative = np.log(np.maximum(steps.core / usual, 1e-3))
    # A step of a kind that is too rare to be judged is taken to be as usual.
    relative[np.isnan(relative)] = 0.0
    short = len(steps) < 2000
    return fit_trend(
        bucket(relative, start), relative, SIGNIFICANCE_OF_SHORT if short else SIGNIFICANCE
    )


def _judge_core(
    steps: Steps, usual: Float, trend: Trend | None, warm_up_rows: int
) -> list[Finding]:
    wall = steps.wall_seconds
    findings = []
    if warm_up_rows:
        level = 1.0 if trend is None else float(trend.level[trend.warm_up])
        lost = np.zeros(len(steps))
        healthy = np.nan_to_num(usual[:warm_up_rows], nan=np.inf) * level
        lost[:warm_up_rows] = np.maximum(steps.core[:warm_up_rows] - healthy, 0)
        if lost.sum() >= GROWTH_FLOOR * wall:
            findings.append(_finding(CORE, "warm_up", lost, "high"))
    if trend is None:
        return findings
    typical = float(np.nanmedian(usual))
    for rise in trend.rises:
        if rise.at_start and rise.after < (1 + _SLOW_FIRST_PART) * rise.before:
            continue
        lost = _book_rise(np.where(np.isnan(usual), 0.0, steps.core), trend, rise, 0.0)
        if lost.sum() >= GROWTH_FLOOR * wall:
            findings.append(_rise_finding(CORE, rise, lost, "medium", typical))
    return findings


def _book_rise(series: Float, trend: Trend, rise: Rise, offset: float) -> Float:
    """What a rise took in each row: its share of the level, of what the row really took."""
    level = np.maximum(trend.level - offset, 1e-12)
    share = np.clip(rise.height / level, 0.0, 1.0)
    lost = np.zeros(len(series))
    lost[trend.edges[0] : trend.edges[-1]] = trend.spread(share)
    return lost * series


def _judge_account(steps: Steps, account: str, warm_up_rows: int) -> list[Finding]:
    rule = rule_of(account)
    wall = steps.wall_seconds
    column = steps.accounts[account]
    if column.sum() < GROWTH_FLOOR * wall:
        return []
    findings = []
    if rule.class_ == "first":
        return [_finding(account, "warm_up", column.copy(), "high")]
    if starts_with_warm_up(account) and warm_up_rows:
        early = np.where(np.arange(len(steps)) < warm_up_rows, column, 0.0)
        column = column - early
        if early.sum() >= GROWTH_FLOOR * wall:
            findings.append(_finding(account, "warm_up", early, "high"))
    events = int(np.count_nonzero(column))
    if rule.class_ in ("never", "configured"):
        floor = rule.flat_floor * wall
        if rule.flat_floor == INPUT_FLOOR:
            early, column = _split_first_pass(column, steps.epochs)
            if early.sum() >= GROWTH_FLOOR * wall:
                findings.append(_finding(account, "warm_up", early, "high"))
        if column.sum() >= floor and events >= rule.least_events:
            pattern = _name_pattern(column, steps.epochs, warm_up_rows)
            findings.append(_finding(account, pattern, column.copy(), "high", events=events))
    return findings


def _split_first_pass(column: Float, epochs: Int) -> tuple[Float, Float]:
    """Splits off what the first pass over the data waited longer than the later ones."""
    early = np.zeros_like(column)
    if len(epochs) >= 2:
        passes = np.split(column, epochs[1:])
        later = [part.mean() for part in passes[1:] if len(part) >= 2]
        first = float(passes[0].mean())
        if later and first > 0:
            early[: epochs[1]] = max(0.0, 1 - float(np.median(later)) / first)
    early *= column
    return early, column - early


def _name_pattern(column: Float, epochs: Int, warm_up_rows: int) -> Pattern:
    total = column.sum()
    if len(epochs) >= 3:
        boundary = np.unique(np.concatenate([epochs - 1, epochs, epochs + 1]))
        boundary = boundary[(boundary >= 0) & (boundary < len(column))]
        if len(boundary) < 0.2 * len(column) and column[boundary].sum() >= 0.6 * total:
            return "epoch_boundary"
    rows = np.flatnonzero(column)
    if len(rows) <= 2:
        return "one_off"
    gaps = np.diff(rows)
    usual = float(np.median(gaps))
    if usual > 1 and len(gaps) >= 4 and np.mean(np.abs(gaps / usual - 1) <= 0.1) >= 0.6:
        return "periodic"
    steady = len(column) - warm_up_rows
    if rows[0] > warm_up_rows + 0.1 * steady:
        return "level_shift"
    return "flat"


def _rise_finding(
    source: str, rise: Rise, lost: Float, confidence: Confidence, unit_seconds: float
) -> Finding:
    return _finding(
        source,
        rise.pattern,
        lost,
        confidence,
        before_seconds=rise.before * unit_seconds,
        after_seconds=rise.after * unit_seconds,
        growth_fraction=rise.after / rise.before - 1 if rise.before > 0 else np.inf,
        z=rise.z,
    )


def _finding(
    source: str, pattern: Pattern, lost: Float, confidence: Confidence, **numbers: float
) -> Finding:
    rows = np.flatnonzero(lost)
    span = (int(rows[0]), int(rows[-1])) if len(rows) else (0, 0)
    return Finding(source, pattern, span, float(lost.sum()), lost, confidence, numbers)


def _no_baseline() -> Baseline:
    return Baseline(float("nan"), "no baseline: too few steps", (0, 0))


def _state_baseline(steps: Steps, usual: Float, trend: Trend | None, warm_up_rows: int) -> Baseline:
    last = len(steps) - 1
    if trend is None:
        steady = steps.core[warm_up_rows:]
        text = f"median of the steps after warm-up (steps {warm_up_rows}-{last}); the run is short"
        return Baseline(float(np.median(steady)), text, (warm_up_rows, last))
    first = int(trend.edges[trend.base_buckets[0]])
    last = int(trend.edges[trend.base_buckets[1]]) - 1
    text = f"lowest level held for 5 % of the run (steps {first}-{last})"
    return Baseline(trend.base * float(np.nanmedian(usual)), text, (first, last))


def _conclude(
    steps: Steps,
    findings: list[Finding],
    unexplained: Float,
    baseline: Baseline,
    warm_up_rows: int,
    *,
    enough: bool = False,
) -> Diagnosis:
    ledger, ordered, healthy, unexplained = balance(steps.seconds, findings, unexplained)
    lost = [finding for finding in ordered if finding.pattern != "warm_up"]
    warm_up = sum(each.lost_seconds for each in ordered if each.pattern == "warm_up")
    verdict: Verdict
    if lost:
        verdict = "slowdown"
    elif not enough:
        verdict = "not_enough_steps"
    elif warm_up >= _SLOW_START * ledger.wall_seconds:
        verdict = "slow_start"
    else:
        verdict = "healthy"
    return Diagnosis(verdict, baseline, ledger, ordered, warm_up_rows, healthy, unexplained)
