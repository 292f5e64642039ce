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

from tb_slowdown_plugin.analysis.core import fit_core, judge_core
from tb_slowdown_plugin.analysis.ledger import balance
from tb_slowdown_plugin.analysis.measured import judge_account
from tb_slowdown_plugin.analysis.steps import Steps, prepare_steps
from tb_slowdown_plugin.analysis.trend import Trend
from tb_slowdown_plugin.analysis.types import Baseline, Diagnosis, Finding, Verdict
from tb_slowdown_plugin.analysis.work import measure_work
from tb_slowdown_plugin.records.types import Float, Int

FEWEST_STEADY_ROWS: Final = 100
"""Rows after warm-up below which nothing is said of the run's structure."""
FEWEST_ROWS: Final = 20
"""Rows below which nothing is said at all."""
_SHORT_RUN_FLOOR: Final = 0.3
"""Share of the wall that measured seconds need to be named in a short run."""
_SLOW_START: Final = 0.2
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
    long_enough = steady >= FEWEST_STEADY_ROWS
    trend = fit_core(steps.core, usual, compile_rows) if long_enough else None
    warm_up_rows = compile_rows
    if trend is not None and trend.warm_up:
        warm_up_rows = int(trend.edges[trend.warm_up])
    candidates: list[Finding] = []
    for account in steps.accounts:
        candidates += judge_account(steps, account, compile_rows, warm_up_rows)
    core = judge_core(steps, usual, trend, warm_up_rows)
    candidates += core.findings
    enough = len(steps) - warm_up_rows >= FEWEST_STEADY_ROWS
    if not enough:
        share = _SHORT_RUN_FLOOR * steps.wall_seconds
        candidates = [
            each for each in candidates if each.pattern == "warm_up" or each.lost_seconds >= share
        ]
    baseline = _state_baseline(steps, usual, trend, warm_up_rows)
    return _conclude(steps, candidates, core.unexplained, baseline, warm_up_rows, enough=enough)


def _count_slow_first_rows(seconds: Float) -> int:
    """Leading steps at more than twice the median: tracing, compilation, creation."""
    limit = min(_MOST_COMPILE_ROWS, len(seconds) // 10)
    usual = float(np.median(seconds[limit:]))
    fast = np.flatnonzero(seconds[: limit + 1] <= 2 * usual)
    return int(fast[0]) if len(fast) else limit


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
