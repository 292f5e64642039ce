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

from tb_slowdown_plugin.analysis.ledger.run_queue import Delays
from tb_slowdown_plugin.analysis.prepare.steps import Steps, as_column, as_samples
from tb_slowdown_plugin.analysis.stats.buckets import Signals, quantile_by_steps, sum_between
from tb_slowdown_plugin.catalog.parameters.ledger import DELAY_TIED, OWN_DELAY
from tb_slowdown_plugin.catalog.parameters.shared import NEARLY_ALL, NEGLIGIBLE, SERIES
from tb_slowdown_plugin.catalog.parameters.stats import TREND_SIGNIFICANCE
from tb_slowdown_plugin.catalog.signals import FIXED_WORK, THREAD_CPU
from tb_slowdown_plugin.records.types import Float

_MOST_STRETCHES: Final = 4000


def find_slow_cpu(steps: Steps, signals: Signals) -> Delays | None:
    """What the process computed longer for than it would have on the CPU at its fastest.

    Args:
      steps: The run.
      signals: `FIXED_WORK`; without it nothing is known. `THREAD_CPU` tells own threads apart.

    Returns:
      Seconds between samples; None where nothing is known, and where the threads of the program
      beside the training have made it so.

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
    share = np.maximum(1.0 - best / np.maximum(between, best), 0.0)
    if THREAD_CPU in signals:
        thread_cpu = as_column(f"signals[{THREAD_CPU!r}]", signals[THREAD_CPU], len(steps))
        beside = (computed - sum_between(thread_cpu, sampled)) / seconds
        if _is_tied(beside, share):
            return None
    busy = sum_between(steps.core, sampled) * np.clip(computed / seconds, 0.0, 1.0)
    if not _is_sure(busy / count, between):
        return None
    return Delays(sampled, busy * share)


def _is_sure(busy: Float, taken: Float) -> bool:
    """Whether steps and the computation go up and down together, and not by chance.

    Fisher's transformation of a correlation is normal, its deviation 1 / sqrt(n - 3).
    """
    if busy.std() == 0 or taken.std() == 0:
        return False
    tie = float(np.clip(np.corrcoef(busy, taken)[0, 1], -NEARLY_ALL, NEARLY_ALL))
    return bool(np.arctanh(tie) * np.sqrt(len(busy) - 3) >= TREND_SIGNIFICANCE)


def _is_tied(beside: Float, share: Float) -> bool:
    """Whether own threads (R - 1,) cores compute more where the CPU is slower."""
    known = np.isfinite(beside)
    if known.sum() < SERIES or beside[known].std() <= NEGLIGIBLE or share[known].std() == 0:
        return False
    return bool(np.corrcoef(beside[known], share[known])[0, 1] >= DELAY_TIED)
