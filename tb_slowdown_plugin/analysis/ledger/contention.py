"""Time in which the process wanted a core and got none: taken out of the core first.

The operating system counts it (run-queue delay, cgroup throttling), but only a
sample now and then sees the count, and it is the sum over all threads, which
wait side by side. So it is fitted how much of it the step really feels, from
the stretches between samples, and it is then booked to the slow steps of each.
What counts as other programs' doing is said in `run_queue.py`.

A program that computes more waits more for a core, beside the same neighbours, and its
steps take longer: that is no tie of the two. Hence only delay beyond what as much
computing usually brings is held against the time beyond that computing. And where the training
thread computes more than at its least, the step's growth by as much is its own (`run_queue.py`);
what other threads of the process compute counts likewise, spread over all cores.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.ledger.cpu_speed import find_slow_cpu
from tb_slowdown_plugin.analysis.ledger.run_queue import (
    Delays,
    find_foreign_delays,
    find_foreign_share,
    find_own_growth,
    read_count,
    read_counts,
)
from tb_slowdown_plugin.analysis.prepare.steps import Steps, as_column, as_samples
from tb_slowdown_plugin.analysis.stats.buckets import (
    Samples,
    Signals,
    quantile_by_steps,
    sum_between,
)
from tb_slowdown_plugin.analysis.stats.time_trend import median_slope
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION_ACCOUNTS, SLOW_CPU, WAITING
from tb_slowdown_plugin.catalog.parameters.ledger import (
    DELAY_TIED,
    FASTEST_STEPS,
    FEWEST_QUIET_STEPS,
    LEAST_DELAY,
    OWN_DELAY,
    SLICE_SECONDS,
)
from tb_slowdown_plugin.catalog.parameters.shared import NEARLY_ALL, NEGLIGIBLE, SERIES
from tb_slowdown_plugin.catalog.signals import (
    CORES,
    RUN_DELAY,
    THREAD_CPU,
    THREAD_RUN_DELAY,
)
from tb_slowdown_plugin.records.types import Float, Int

_MOST_STRETCHES: Final = 4000


_DRAWN_IN: Final = 0.995


_ENOUGH_STEPS: Final = 100_000
"""Of so many, spread over the run, the fastest are known to 2% of their number."""

_SPREADS: Final = 2.0
"""Standard deviations below the mean at which the delay of the fastest steps lies: of normal ones,
2% are farther below."""


def find_contention(steps: Steps, signals: Signals, usual: Float | None = None) -> dict[str, Float]:
    """Splits from the core the seconds in which the process was kept off the CPU.

    Args:
      steps: The run.
      signals: Cumulative counts: the names above and those of `run_queue.py`. And
        `THREAD_CPU`, which is no count; without it no growth is told from the neighbours' doing.
      usual: (S,) seconds that a step usually takes; NaN where nothing is known of it.

    Returns:
      Account -> (S,) seconds, less than the core. The training thread's own delay
      counts in full, that of all threads as far as steps take longer with it.

    Raises:
      UsageError: A signal is not of shape (S,).
    """
    found: dict[str, Float] = {}
    cpu = steps.cpu_seconds
    known = np.zeros(len(steps))
    counts = read_counts(signals, len(steps))
    share = find_foreign_share(counts, steps.seconds, cpu)
    for name in CONTENTION_ACCOUNTS:
        if name not in signals:
            continue
        if name == THREAD_RUN_DELAY:
            felt = _read_own(steps, counts[THREAD_RUN_DELAY], share)
        elif name == RUN_DELAY:
            felt = find_foreign_delays(counts, share, steps.seconds, cpu, _MOST_STRETCHES)
        else:
            counted = as_samples(f"signals[{name!r}]", signals[name], len(steps))
            felt = read_count(counted, _MOST_STRETCHES)
        if felt is not None and name != THREAD_RUN_DELAY:
            felt = _leave_felt(steps.core, known, felt, cpu)
        if felt is None or not felt.seconds.any():
            continue
        growth = np.zeros(len(felt.seconds))
        if THREAD_CPU in signals:
            growth = find_own_growth(steps, _compute_alone(steps, signals), felt)
        lost = _book(steps.core - known, felt, growth)
        if lost.any():
            found[CONTENTION_ACCOUNTS[name]] = found.get(CONTENTION_ACCOUNTS[name], 0.0) + lost
            known = known + lost
    slower = find_slow_cpu(replace(steps, core=steps.core - known), signals, usual)
    if slower is not None and slower.any():
        found[SLOW_CPU] = slower
    return found


def _compute_alone(steps: Steps, signals: Signals) -> Float:
    """(S,) seconds that a step's computing takes at least, with all cores for itself.

    What the training thread computes, and what the others do, spread over the cores.
    """
    thread = as_column(f"signals[{THREAD_CPU!r}]", signals[THREAD_CPU], len(steps))
    cpu = steps.cpu_seconds
    if cpu is None or CORES not in signals:
        return thread
    cores = max(1.0, float(as_samples(CORES, signals[CORES], len(steps)).values.max(initial=1.0)))
    return np.asarray(thread + np.nan_to_num(np.maximum(cpu - thread, 0.0)) / cores)


def _read_own(steps: Steps, delay: Samples, share: Float) -> Delays | None:
    """The core's part of the delay of the training thread, as far as other programs made it.

    The thread may have been kept off the CPU wherever it was at work, in a callback as
    well as in the core; while it waits for data or for other workers, it wants no core.
    """
    delays = read_count(delay, _MOST_STRETCHES)
    if delays is None:
        return None
    sampled = delays.sampled
    foreign = sum_between(share, sampled) / np.diff(sampled)
    at_work, core = sum_between(steps.seconds, sampled), sum_between(steps.core, sampled)
    for name, column in steps.accounts.items():
        if names.family(name) in WAITING:
            at_work -= sum_between(column, sampled)
    of_core = np.ones_like(core)
    np.divide(core, at_work, out=of_core, where=at_work > core)
    return Delays(sampled, delays.seconds * foreign * of_core)


def _leave_felt(core: Float, known: Float, delays: Delays, cpu: Float | None) -> Delays:
    """What the step felt of the delay of all threads, beyond the contention that is known."""
    sampled, delay = delays.sampled, delays.seconds
    # What the threads of a pool wait for each other is there without neighbours, too.
    steps = np.diff(sampled)
    delay = np.maximum(delay - quantile_by_steps(delay / steps, steps, OWN_DELAY) * steps, 0.0)
    delay = delay * _fit_felt(core, sampled, delay, cpu)
    return Delays(sampled, np.maximum(delay - sum_between(known, sampled), 0.0))


def _book(core: Float, delays: Delays, own_growth: Float) -> Float:
    """Books the delay between samples to the slow steps there.

    No step is charged below the fastest, with what the thread computes more than in those.
    """
    lost = np.zeros(len(core))
    sampled, delay = delays.sampled, delays.seconds
    fastest = max(_find_quiet_level(core, sampled, delay), _find_fastest(core, sampled, delay))
    least = (fastest + own_growth).tolist()
    stretches = zip(pairwise(sampled.tolist()), delay.tolist(), least, strict=True)
    for (first, last), waited, quiet in stretches:
        stretch = core[first + 1 : last + 1]
        total = float(stretch.sum())
        seconds = min(waited, NEARLY_ALL * total, total - quiet * len(stretch))
        if total > 0 and seconds >= LEAST_DELAY * total:
            level = max(quiet, _find_level(stretch, seconds))
            lost[first + 1 : last + 1] = np.clip(stretch - level, 0.0, NEARLY_ALL * stretch)
    return lost


def _find_quiet_level(core: Float, sampled: Int, felt_delay: Float) -> float:
    """What a step takes where nobody is in the way; 0 where the run shows too little of that.

    Contention can't make a step take less than this, however much is counted.
    """
    steps = np.diff(sampled)
    seconds = sum_between(core, sampled) / steps
    quiet = felt_delay / steps <= NEGLIGIBLE * seconds
    if steps[quiet].sum() < FEWEST_QUIET_STEPS * steps.sum():
        return 0.0
    return quantile_by_steps(seconds[quiet], steps[quiet], 0.5)


def _find_fastest(core: Float, sampled: Int, felt_delay: Float) -> float:
    """What the fastest steps would take if they were disturbed by nobody.

    Others take a core for a time slice, and come and go. Of short steps some are not met at
    all, and no step takes less than those. Of long steps each is met, and the more evenly the
    longer it is: so much as all but a few are delayed by, the fastest were, too.
    """
    steps = np.diff(sampled)
    usual = float(felt_delay.sum() / steps.sum())
    between = float(np.mean((felt_delay - usual * steps) ** 2 / steps))
    spread = math.sqrt(max(between, usual * SLICE_SECONDS))
    met = max(usual - _SPREADS * spread, 0.0)
    some = core[:: max(1, len(core) // _ENOUGH_STEPS)]  # of a long run all would be 80 MB
    return max(float(np.quantile(some, FASTEST_STEPS)) - met, 0.0)


def _find_level(stretch: Float, seconds: float) -> float:
    """The level above which the steps of a stretch hold so many seconds together.

    The slowest steps are lowered first: those were kept off the CPU longest.
    """
    ordered = np.sort(stretch)[::-1]
    above = np.cumsum(ordered)
    ranks = np.arange(1, len(ordered) + 1)
    levels = (above - seconds) / ranks
    # The first rank at which the next step would already be below the level.
    following = np.append(ordered[1:], -np.inf)
    return float(levels[int(np.argmax(levels >= following))])


def _fit_felt(core: Float, sampled: Int, delay: Float, cpu: Float | None) -> float:
    """How much of a second of delay, summed over threads, the step gets longer by: 0 to 1."""
    if len(delay) < SERIES:
        return 0.0
    # One step of a thousand that stalls for another reason would hide the tie.
    bounded = np.minimum(core, np.quantile(core, _DRAWN_IN))
    steps = np.diff(sampled)
    x, y = delay / steps, sum_between(bounded, sampled) / steps
    least = LEAST_DELAY * y.mean()
    if cpu is not None:
        computed = sum_between(cpu, sampled) / steps
        if computed.min() > 0:
            x = x - computed * np.median(x / computed)
            y = y - computed
    if x.std() <= least or y.std() == 0:
        return 0.0
    if np.corrcoef(x, y)[0, 1] < DELAY_TIED:
        return 0.0
    return float(np.clip(median_slope(x, y), 0.0, 1.0))
