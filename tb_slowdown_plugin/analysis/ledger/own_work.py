"""What the training thread itself computes more than at its least: no neighbour takes that.

Beside neighbours a thread that computes more waits longer for a core, and sleeps less
meanwhile: other threads of the process, for which it would have to wait, go on. So not all
of its delay is lost, and where its computing grows, the step's growth by as much is the
program's. Seen with `python -m benchmarks.accuracy.busy`: of work in Python that grew by 7 ms
a step, all of it CPU time, 2 to 3 ms were called the neighbours' by their delay alone.

Neighbours make computing itself slower, too: they use the same caches, and the other half of
a core. That goes up and down with them, and what a program piles up stays.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.ledger.run_queue import Delays
from tb_slowdown_plugin.analysis.prepare.steps import Steps
from tb_slowdown_plugin.analysis.stats.buckets import (
    quantile_by_steps,
    sum_between,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import WAITING
from tb_slowdown_plugin.records.types import Float

_LEAST: Final = 0.1
"""Share of the steps that compute least, from which growth counts."""

_BUSIER: Final = 2.0
"""Delay for each second computed, over the run's usual one, from which longer computing may be the
neighbours': in a healthy program whose thread computed 1.5 times as long, it was 8 times."""

_MUCH: Final = 0.2
"""Share of the step from which it grows: beside a process that took one of two cores, the thread of
healthy programs computed up to so much longer at times, in 95 % of 255 recordings; of those whose
thread has more to do in each step, at least 0.4 (`python -m benchmarks.accuracy.busy`)."""

_BLOCKS: Final = 64

_LASTS: Final = 3

_SHORTEST_SECONDS: Final = 1e-9


def find_own_growth(steps: Steps, thread_cpu: Float, delays: Delays) -> Float:
    """What the training thread computes in a step beyond what it computes where it does least.

    Args:
      steps: The run, contention not split off.
      thread_cpu: (S,) CPU seconds of the training thread in each step.
      delays: Its delay; `R` samples.

    Returns:
      (R - 1,) seconds a step in each stretch between samples; 0 where the thread's CPU time
      is not known, where neighbours took much more than usual, and where it is less again
      later on; 0 throughout where it never is a good part of a step.

    Example:
      >>> from tb_slowdown_plugin.analysis.prepare.steps import prepare_steps
      >>> steps = prepare_steps(np.full(41, 0.02), {}, None)
      >>> computed = np.repeat([0.004, 0.009], [21, 20])
      >>> delays = Delays(np.array([0, 10, 20, 30, 40]), np.full(4, 0.02))
      >>> find_own_growth(steps, computed, delays).round(6).tolist()
      [0.0, 0.0, 0.005, 0.005]
      >>> find_own_growth(steps, computed[::-1], delays).tolist()
      [0.0, 0.0, 0.0, 0.0]
    """
    sampled = delays.sampled
    worked = sum_between(thread_cpu, sampled)
    for name, column in steps.accounts.items():
        if names.family(name) not in WAITING and name not in steps.parts:
            worked -= sum_between(column, sampled)
    found = np.zeros(len(worked))
    known = np.isfinite(worked)
    if not known.any():
        return found
    count = np.diff(sampled)[known]
    worked = np.clip(worked[known], 0.0, sum_between(steps.core, sampled)[known]) / count
    growth = np.maximum(worked - quantile_by_steps(worked, count, _LEAST), 0.0)
    delay = delays.seconds[known] / count
    usual = quantile_by_steps(delay / np.maximum(worked, _SHORTEST_SECONDS), count, 0.5)
    growth[delay > _BUSIER * usual * worked] = 0.0
    growth = np.minimum(growth, _find_lasting(growth))
    if growth.max() >= _MUCH * steps.typical_seconds:
        found[known] = growth
    return found


def _find_lasting(growth: Float) -> Float:
    """As much as half of what follows has at least; told for each of so many blocks.

    What only the last of them has may be over soon.
    """
    blocks = np.array_split(growth, min(_BLOCKS, len(growth)))
    usual = np.array([np.median(block) for block in blocks])
    last = max(len(usual) - _LASTS, 0)
    lasting = [np.median(usual[min(first, last) :]) for first in range(len(usual))]
    return np.repeat(lasting, [len(block) for block in blocks])
