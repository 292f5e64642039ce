"""The engine: from step times and measured seconds to a ledger of lost seconds.

Direct measurement comes first: what an account holds is taken out of the step
time and judged by the account's own rule. What is left, the core, is searched
for structure: warm-up, jumps, growth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from tb_slowdown_plugin.analysis.ledger.balance import (
    balance,
    name_losses,
)
from tb_slowdown_plugin.analysis.ledger.contention import (
    find_contention,
)
from tb_slowdown_plugin.analysis.ledger.input_contention import find_starved, judge_wait
from tb_slowdown_plugin.analysis.ledger.measured_accounts import judge_account, judge_accounts
from tb_slowdown_plugin.analysis.ledger.short_runs import keep_certain, steps_needed
from tb_slowdown_plugin.analysis.ledger.verdict import judge
from tb_slowdown_plugin.analysis.prepare.steps import (
    Steps,
    prepare_steps,
    take_out,
)
from tb_slowdown_plugin.analysis.prepare.work import measure_work
from tb_slowdown_plugin.analysis.residual.residual import fit_steps, judge_core
from tb_slowdown_plugin.analysis.stats.buckets import (
    Signals,
)
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.analysis.stats.trend import Trend
from tb_slowdown_plugin.analysis.types import (
    Baseline,
    Diagnosis,
    Finding,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import (
    rule_of,
    starts_with_warm_up,
)
from tb_slowdown_plugin.catalog.parameters.ledger import (
    FEWEST_STEPS_TO_JUDGE,
    SURE_STEPS,
)
from tb_slowdown_plugin.catalog.parameters.prepare import (
    SLOW_FIRST_STEPS,
    SLOW_FIRST_STEPS_OF_SHORT,
)
from tb_slowdown_plugin.catalog.parameters.shared import SEVERAL
from tb_slowdown_plugin.catalog.signals import FIXED_WORK
from tb_slowdown_plugin.records.types import Float, Int


def diagnose(
    step_seconds: ArrayLike,
    measured: Mapping[str, ArrayLike] | None = None,
    *,
    cpu_seconds: ArrayLike | None = None,
    signals: Signals | None = None,
    epochs: Sequence[int] | Int | None = None,
    kinds: ArrayLike | None = None,
    items: ArrayLike | None = None,
    floors: Mapping[str, float] | None = None,
) -> Diagnosis:
    """Tells where the time of a run went, and what of it was lost.

    `S` is the number of steps. Any stream may be missing; NaN means "not
    measured". Nothing here is random and nothing is read from outside.

    Args:
      step_seconds: (S,) seconds from the end of one step to the end of the next.
      measured: Account (`catalog/names.py`) -> (S,) seconds of the step that
        belong to it alone.
      cpu_seconds: (S,) CPU time of the process in each step; tells late input from threads
        without a core.
      signals: Name -> (S,), NaN where not sampled, or `Samples`. Those that count how long the
        process was kept off the CPU (`contention.py`) are split off the step first; beside them
        `thread_cpu_seconds`, the training thread's in each step, keeps its own growth in the step.
      epochs: Rows at which an epoch begins.
      kinds: (S,) kind of each step; kinds are never compared with each other.
      items: (S,) examples, rows or tokens of each step.
      floors: Account -> share of the wall from which it is named although it does not grow,
        where more is known of it than its seconds; of all others by `catalog/accounts.py`.

    Returns:
      Verdict, ledger, findings, and the causes they point to; in each step, healthy,
      lost and unexplained seconds add up to the step time. Losses under the floors of
      `catalog/accounts.py` are healthy.

    Raises:
      UsageError: An array is not of shape (S,).

    Example:
      >>> import numpy as np
      >>> step = np.full(1000, 0.010)
      >>> step[600:] += 0.005
      >>> diagnosis = diagnose(step)
      >>> diagnosis.verdict, diagnosis.findings[0].pattern, diagnosis.findings[0].rows
      ('slowdown', 'level_shift', (600, 999))
      >>> round(diagnosis.ledger.lost["core"], 3), diagnosis.causes[0].cause
      (2.0, 'unexplained')
      >>> tracing = np.zeros(1000)
      >>> tracing[700::10] = 0.2
      >>> [cause] = diagnose(np.full(1000, 0.010) + tracing, {"tracing": tracing}).causes
      >>> cause.cause, cause.pattern, cause.steps, round(cause.lost_seconds, 3)
      ('retracing', 'periodic', (700, 990), 6.0)
    """
    signals, floors = signals or {}, floors or {}
    steps = prepare_steps(step_seconds, measured or {}, epochs, cpu_seconds)
    usual = measure_work(steps.core, 0, kinds, items) if FIXED_WORK in signals else None
    steps = take_out(steps, find_contention(steps, signals, usual))
    if steps.wall_seconds <= 0:
        return _conclude(steps, [], np.zeros(len(steps)), None, 0, FEWEST_STEPS_TO_JUDGE)
    compile_rows = _count_slow_first_rows(steps)
    enough = len(steps) >= FEWEST_STEPS_TO_JUDGE
    steps, usual, trend = fit_steps(steps, compile_rows, kinds, items, enough=enough)
    warm_up_rows = compile_rows
    if trend is not None and trend.warm_up:
        warm_up_rows = int(trend.edges[trend.warm_up])

    candidates: list[Finding] = []
    if names.INPUT_WAIT in steps.accounts:
        wait = steps.accounts[names.INPUT_WAIT]
        starved = find_starved(_without_end_of_pass(steps), wait, steps.cpu_seconds, signals)
        judge_own = partial(
            judge_account,
            account=names.INPUT_WAIT,
            first_rows=compile_rows,
            warm_up_rows=warm_up_rows,
            flat_floor=floors.get(names.INPUT_WAIT),
        )
        steps, candidates = judge_wait(steps, starved, judge_own)
    candidates = judge_accounts(steps, candidates, compile_rows, warm_up_rows, floors)
    core = judge_core(steps, usual, trend, warm_up_rows, kinds)
    candidates += core.findings
    unexplained, warm_up_rows = core.unexplained, core.warm_up_rows
    needed = warm_up_rows + SURE_STEPS  # with any noise
    if len(steps) < needed:
        needed = steps_needed(steps.core, usual, warm_up_rows)
        candidates = keep_certain(candidates, steps.wall_seconds, len(steps))
        unexplained = np.zeros(len(steps))
    enough = len(steps) >= needed
    baseline = _state_baseline(trend, warm_up_rows, len(steps), enough=enough)
    return _conclude(steps, candidates, unexplained, baseline, warm_up_rows, needed)


def _without_end_of_pass(steps: Steps) -> Float:
    """(S,) seconds in which a batch could have been loaded: not while a pipeline is taken down."""
    end = steps.accounts.get(names.account(names.INPUT_WAIT, names.END_OF_PASS))
    return steps.seconds if end is None else steps.seconds - end


def _count_slow_first_rows(steps: Steps) -> int:
    """Leading steps at more than twice the median: first traces, compilation, creation."""
    seconds = steps.seconds.copy()
    for name, column in steps.accounts.items():
        # What should never happen is no warm-up when it happens early.
        if rule_of(name).class_ == "never" and not starts_with_warm_up(name):
            seconds -= column
    count = len(seconds)
    limit = min(SLOW_FIRST_STEPS, max(count // 10, min(SLOW_FIRST_STEPS_OF_SHORT, count // 4)))
    first = seconds[: limit + 1].copy()
    usual = median(seconds[limit:])
    if count < SURE_STEPS:  # that grow: by its end the first steps are no longer slow
        usual = min(usual, median(seconds[limit : limit + SEVERAL]))
    fast = np.flatnonzero(first <= 2 * usual)
    return int(fast[0]) if len(fast) else limit


def _state_baseline(
    trend: Trend | None, warm_up_rows: int, count: int, *, enough: bool
) -> tuple[str, tuple[int, int]]:
    """Where a healthy step of this run was seen: in words, and its rows."""
    if trend is None or not enough:
        rows = (warm_up_rows, count - 1)
        if enough:
            return "the steps after warm-up, less what was measured", rows
        return "the few steps after warm-up", rows
    first = int(trend.edges[trend.base_buckets[0]])
    last = int(trend.edges[trend.base_buckets[1]]) - 1
    if first <= warm_up_rows and last >= count - 1:
        return "the level of the whole run after warm-up", (first, last)
    return "the fastest level sustained for at least 5% of the run", (first, last)


def _conclude(
    steps: Steps,
    findings: list[Finding],
    unexplained: Float,
    seen: tuple[str, tuple[int, int]] | None,
    warm_up_rows: int,
    steps_needed: int,
) -> Diagnosis:
    ledger, ordered, healthy, unexplained = balance(steps.seconds, findings, unexplained)
    verdict = judge(ordered, ledger, enough=seen is not None and len(steps) >= steps_needed)
    baseline = Baseline(float("nan"), "no baseline: too few steps", (0, 0))
    if seen is not None:
        text, (first, last) = seen
        baseline = Baseline(median(healthy[first : last + 1]), text, (first, last))
    causes = name_losses(ordered)
    return Diagnosis(
        verdict, baseline, ledger, ordered, warm_up_rows, healthy, unexplained, causes, steps_needed
    )
