"""How long the threads of a process waited for a core that other programs had.

The system counts, for all threads together, how long they wanted a core and got none.
Not all of that is other programs' doing:

- The threads of one process wait for each other, too: briefly where they are many that hand
  over small jobs, seldom where each computes for long. What they wait each time, times what
  they wait for each second that they compute, is then small; beside neighbours both are large.
  And the training thread seldom waits for them: where it does for much of its time, that
  tells, too.
- No program can take more than the process left: of `n` cores for `w` seconds, less
  what the process itself computed there. Threads that wait beyond that would wait for
  each other without anybody else.

What the training thread computes more than at its least is its own: no neighbour takes that.
Beside neighbours a thread that computes more waits longer for a core, and sleeps less
meanwhile: other threads of the process, for which it would have to wait, go on. So not all
of its delay is lost, and where its computing grows, the step's growth by as much is the
program's. Seen with `python -m benchmarks.accuracy.busy`: of work in Python that grew by 7 ms
a step, all of it CPU time, 2 to 3 ms were called the neighbours' by their delay alone.

Neighbours make computing itself slower, too: they use the same caches, and the other half of
a core. That goes up and down with them, and what a program piles up stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.steps import Steps, as_samples
from tb_slowdown_plugin.analysis.stats.buckets import (
    Samples,
    Signals,
    quantile_by_steps,
    sum_between,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import WAITING
from tb_slowdown_plugin.catalog.parameters.ledger import (
    MUCH_LONGER,
    OWN_DELAY,
    OWN_WAIT_SECONDS,
    OWN_WAIT_SHARE,
)
from tb_slowdown_plugin.catalog.parameters.shared import FAR_BEYOND, MAJORITY
from tb_slowdown_plugin.catalog.signals import CORES, RUN_DELAY, SWITCHES, THREAD_RUN_DELAY
from tb_slowdown_plugin.records.types import Float, Int

_BLOCKS: Final = 64

_LASTS: Final = 3

_SHORTEST_SECONDS: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Delays:
    """What was waited between samples of a count. `R` is the number of samples."""

    sampled: Int
    """(R,) rows after which the count was read, ascending."""
    seconds: Float
    """(R - 1,) between each two of them."""


def read_counts(signals: Signals, count: int) -> dict[str, Samples]:
    """Those of the signals that tell of waiting for a core, of a run of `count` steps.

    Raises:
      UsageError: A signal is not of shape (S,).
    """
    return {
        name: as_samples(f"signals[{name!r}]", signals[name], count)
        for name in (RUN_DELAY, THREAD_RUN_DELAY, CORES, *SWITCHES)
        if name in signals
    }


def find_foreign_delays(
    counts: Mapping[str, Samples], share: Float, seconds: Float, cpu: Float | None, most: int
) -> Delays | None:
    """What the threads waited because of other programs.

    Args:
      counts: From `read_counts`. Without `CORES`, or `cpu`, the delay has no bound.
      share: (S,) of it that other programs made, from `find_foreign_share`.
      seconds: (S,) of each step.
      cpu: (S,) CPU seconds of the process in each step; of steps with NaN nothing follows.
      most: Stretches to tell apart, at most about so many.

    Returns:
      None without two samples of `RUN_DELAY`.
    """
    delays = read_count(counts[RUN_DELAY], most) if RUN_DELAY in counts else None
    if delays is None:
        return None
    sampled, delay = delays.sampled, delays.seconds
    delay *= share[sampled[1:]]
    if CORES in counts and cpu is not None:
        left = counts[CORES].at(sampled[1:]) * sum_between(seconds, sampled)
        left -= sum_between(cpu, sampled)
        # NaN, where either was not measured, sets no bound.
        delay = np.fmin(delay, np.maximum(left, 0.0))
    return Delays(sampled, delay)


def read_count(counted: Samples, most: int) -> Delays | None:
    """What a count rose by between its samples; None without two of them.

    Args:
      counted: Samples of the count.
      most: Stretches to tell apart, at most about so many.
    """
    some = slice(None, None, max(1, len(counted.rows) // most))
    sampled = counted.rows[some]
    if len(sampled) < 2:
        return None
    return Delays(sampled, np.maximum(np.diff(counted.values[some]), 0.0))


def find_foreign_share(
    counts: Mapping[str, Samples], seconds: Float, cpu: Float | None = None
) -> Float:
    """(S,) how much of the delay at a row other programs have made: 0 to 1.

    Args:
      counts: `RUN_DELAY` and `SWITCHES`; without one of them all is foreign.
        `THREAD_RUN_DELAY` if it is known.
      seconds: (S,) of each step.
      cpu: (S,) CPU seconds of the process in each step; where unknown, one core's are assumed.
    """
    size = len(seconds)
    if not all(name in counts for name in (RUN_DELAY, *SWITCHES)):
        return np.broadcast_to(1.0, size)
    voluntary, involuntary = SWITCHES
    sampled, delay = counts[RUN_DELAY].rows, counts[RUN_DELAY].values
    switches = counts[voluntary].at(sampled) + counts[involuntary].at(sampled)
    known = ~np.isnan(switches)
    sampled, delay, switches = sampled[known], delay[known], switches[known]
    if len(sampled) < 2:
        return np.broadcast_to(1.0, size)
    often = np.maximum(np.diff(switches), 1.0)
    waited = np.diff(delay)
    whole = np.maximum(sum_between(seconds, sampled), 1e-9)
    computed = whole
    if cpu is not None:
        known_cpu = sum_between(cpu, sampled)
        computed = np.where(known_cpu > 0, known_cpu, whole)
    long_and_often = waited / often * waited / computed
    between = np.clip((long_and_often / OWN_WAIT_SECONDS - 1.0) / MAJORITY, 0.0, 1.0)
    if THREAD_RUN_DELAY in counts:
        held_up = np.diff(counts[THREAD_RUN_DELAY].at(sampled))
        # NaN, where that thread was not sampled, says nothing.
        between = np.fmax(between, np.clip(held_up / whole / OWN_WAIT_SHARE - 1.0, 0.0, 1.0))
    rows = np.diff(sampled)
    rows[0] += sampled[0] + 1
    rows[-1] += size - 1 - sampled[-1]
    return np.repeat(between, rows)


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
    growth = np.maximum(worked - quantile_by_steps(worked, count, OWN_DELAY), 0.0)
    delay = delays.seconds[known] / count
    usual = quantile_by_steps(delay / np.maximum(worked, _SHORTEST_SECONDS), count, 0.5)
    growth[delay > FAR_BEYOND * usual * worked] = 0.0
    growth = np.minimum(growth, _find_lasting(growth))
    if growth.max() >= MUCH_LONGER * steps.typical_seconds:
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
