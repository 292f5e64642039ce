"""How much longer the process computed because the CPU itself was slower for a while.

The monitor times a small computation of its own, always the same, in the training thread. Where
that takes more CPU time than at its best, so does all else: another program has the second half of
the core or the caches, the clock is lower, or the host of a virtual machine is full. No count of
the system tells it.

The program's own threads use the other half of a core, too. Where they compute more just when the
computation takes longer, nothing is held against others.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.steps import Steps, as_column, as_samples
from tb_slowdown_plugin.analysis.stats.buckets import Signals, quantile_by_steps, sum_between
from tb_slowdown_plugin.analysis.stats.time_trend import median_slope
from tb_slowdown_plugin.catalog.parameters.ledger import DELAY_TIED, FASTEST_STEPS, OWN_DELAY
from tb_slowdown_plugin.catalog.parameters.shared import (
    ENOUGH_STEPS,
    FAR_BEYOND,
    NEARLY_ALL,
    NEGLIGIBLE,
    SERIES,
)
from tb_slowdown_plugin.catalog.parameters.stats import TREND_SIGNIFICANCE
from tb_slowdown_plugin.catalog.signals import FIXED_WORK, THREAD_CPU
from tb_slowdown_plugin.records.types import Float, Int

_MOST_STRETCHES: Final = 4000


def find_slow_cpu(steps: Steps, signals: Signals, usual: Float | None = None) -> Float | None:
    """What the process computed longer for than it would have on the CPU at its fastest.

    Args:
      steps: The run.
      signals: `FIXED_WORK`; without it nothing is known. `THREAD_CPU` tells own threads apart.
      usual: (S,) seconds that a step usually takes; NaN where nothing is known of it.

    Returns:
      (S,) seconds, less than the core; None where nothing is known, and where the threads of the
      program beside the training have made it so.

    Raises:
      UsageError: A signal is not of shape (S,).
    """
    cpu = steps.cpu_seconds
    if cpu is None or FIXED_WORK not in signals:
        return None
    taken = as_samples(f"signals[{FIXED_WORK!r}]", signals[FIXED_WORK], len(steps))
    some = slice(None, None, max(1, len(taken.rows) // _MOST_STRETCHES))
    sampled, values = taken.rows[some], taken.values[some]
    if len(sampled) <= SERIES:
        return None
    between, count = values[1:], np.diff(sampled)
    best = quantile_by_steps(between, count, OWN_DELAY)
    seconds, computed = sum_between(steps.seconds, sampled), sum_between(cpu, sampled)
    if not best > 0 or not np.all(seconds > 0) or not np.all(np.isfinite(computed)):
        return None
    slower = np.maximum(between / best, 1.0)
    if THREAD_CPU in signals:
        thread_cpu = as_column(f"signals[{THREAD_CPU!r}]", signals[THREAD_CPU], len(steps))
        beside = (computed - sum_between(thread_cpu, sampled)) / seconds
        if _is_tied(beside, 1.0 - 1.0 / slower):
            return None
    usual = np.full(len(steps), steps.typical_seconds) if usual is None else usual
    pace = _measure_pace(steps.core, usual, sampled)
    felt = _fit_felt(slower, pace)
    if felt <= 0:
        return None
    longer = np.clip(computed / seconds, 0.0, 1.0) * (1.0 - 1.0 / (1.0 + felt * (slower - 1.0)))
    lost = np.zeros(len(steps))
    lost[sampled[0] + 1 : sampled[-1] + 1] = np.repeat(longer, count)
    known = np.isfinite(usual)
    fastest = float(np.quantile(steps.core[known] / usual[known], FASTEST_STEPS))
    least = np.where(known, fastest * usual, 0.0)
    return np.asarray(np.clip(steps.core - least, 0.0, lost * steps.core))


def _measure_pace(core: Float, usual: Float, sampled: Int) -> Float:
    """(R - 1,) how many times as long as usual steps took between samples; NaN where unknown.

    A step counts as twice the usual one at most: a CPU was up to 1.7 times as slow.
    """
    known = np.isfinite(usual) & (usual > 0)
    pace = np.zeros(len(core))
    pace[known] = np.minimum(core[known] / usual[known], FAR_BEYOND)
    counted = sum_between(known.astype(float), sampled)
    with np.errstate(invalid="ignore"):
        return np.asarray(sum_between(pace, sampled) / np.where(counted > 0, counted, np.nan))


def _fit_felt(slower: Float, pace: Float) -> float:
    """How much of what the computation takes longer steps do, too: 0 to 1, 0 if by chance."""
    known = np.isfinite(pace)
    x, y = slower[known], pace[known]
    if not _go_together(x, y):
        return 0.0
    slope = median_slope(x, y)
    alone = float(np.median(y - slope * (x - 1.0)))
    return float(np.clip(slope / alone, 0.0, 1.0)) if alone > 0 else 0.0


def _go_together(one: Float, other: Float) -> bool:
    """Whether they go up and down together, and not by chance.

    Fisher's transformation of a correlation is normal, its deviation 1 / sqrt(n - 3). Of twenty
    stretches half a correlation is enough, for which there is a chance of 1 in 85: a slower CPU
    does make steps longer.
    """
    if len(one) <= SERIES or one.std() == 0 or other.std() == 0:
        return False
    tie = float(np.clip(np.corrcoef(one, other)[0, 1], -NEARLY_ALL, NEARLY_ALL))
    if len(one) >= ENOUGH_STEPS and tie >= DELAY_TIED:
        return True
    return bool(np.arctanh(tie) * np.sqrt(len(one) - 3) >= TREND_SIGNIFICANCE)


def _is_tied(beside: Float, share: Float) -> bool:
    """Whether own threads (R - 1,) cores compute more where the CPU is slower."""
    known = np.isfinite(beside)
    if known.sum() < SERIES or beside[known].std() <= NEGLIGIBLE or share[known].std() == 0:
        return False
    return bool(np.corrcoef(beside[known], share[known])[0, 1] >= DELAY_TIED)
