"""Time in which the process wanted a core and got none: taken out of the core first.

The operating system counts it (run-queue delay, cgroup throttling), but only a
sample now and then sees the count, and it is the sum over all threads, which
wait side by side. So it is fitted how much of it the step really feels, from
the stretches between samples, and it is then booked to the slow steps of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tb_slowdown_plugin.analysis.steps import as_column
from tb_slowdown_plugin.records.names import account
from tb_slowdown_plugin.records.types import Float, Int

RUN_DELAY: Final = "run_delay_seconds"
"""Signal: seconds that the process's threads waited for a core, counted up."""
THREAD_RUN_DELAY: Final = "thread_run_delay_seconds"
"""Signal: the same of the training thread alone; each of its seconds is one of the step."""
THROTTLED: Final = "throttled_seconds"
"""Signal: seconds for which the cgroup's quota stopped the process, counted up."""
CONTENTION: Final = "contention"
"""The family of the accounts made here."""
ACCOUNTS: Final = {
    THREAD_RUN_DELAY: account(CONTENTION, "run_delay"),
    RUN_DELAY: account(CONTENTION, "run_delay"),
    THROTTLED: account(CONTENTION, "throttled"),
}
_FEWEST_STRETCHES: Final = 8
_MOST_STRETCHES: Final = 4000
_MOST: Final = 0.9
"""Of a step's time, at most so much is contention: something was computed, too."""
_TIED: Final = 0.5
"""Correlation of delay and step time over the stretches, from which they are tied together."""
_DRAWN_IN: Final = 0.995
_QUIET: Final = 0.05
_FEWEST_QUIET: Final = 0.2
_LEAST_DELAY: Final = 0.01
"""Share of the step time; less delay than this is what a healthy scheduler does."""


def find_contention(core: Float, signals: Mapping[str, ArrayLike]) -> dict[str, Float]:
    """Splits from the core the seconds in which the process was kept off the CPU.

    Args:
      core: (S,) seconds that no account explains.
      signals: Cumulative counts, (S,), NaN where not sampled; the names above.

    Returns:
      Account -> (S,) seconds, at most 0.9 of the core together. The training
      thread's own delay is preferred to that of all threads.

    Raises:
      UsageError: A signal is not of shape (S,).
    """
    wanted = [THREAD_RUN_DELAY if THREAD_RUN_DELAY in signals else RUN_DELAY, THROTTLED]
    found: dict[str, Float] = {}
    rest = core
    for name in wanted:
        if name not in signals:
            continue
        values = as_column(f"signals[{name!r}]", signals[name], len(core))
        lost = _book(rest, values, exact=name == THREAD_RUN_DELAY)
        if lost.any():
            found[ACCOUNTS[name]] = lost
            rest = rest - lost
    return found


def _book(core: Float, counted: Float, *, exact: bool) -> Float:
    lost = np.zeros_like(core)
    sampled = np.flatnonzero(~np.isnan(counted))
    sampled = sampled[:: max(1, len(sampled) // _MOST_STRETCHES)]
    if len(sampled) < 2:
        return lost
    delay = np.maximum(np.diff(counted[sampled]), 0.0)
    felt = 1.0 if exact else _fit_felt(core, sampled, delay)
    if felt <= 0:
        return lost
    quiet = _find_quiet_level(core, sampled, felt * delay)
    for (first, last), waited in zip(pairwise(sampled.tolist()), delay.tolist(), strict=True):
        # A sample in row r was taken when that step had ended.
        stretch = core[first + 1 : last + 1]
        total = float(stretch.sum())
        seconds = min(felt * waited, _MOST * total, total - quiet * len(stretch))
        if total > 0 and seconds >= _LEAST_DELAY * total:
            level = _find_level(stretch, seconds)
            lost[first + 1 : last + 1] = np.clip(stretch - level, 0.0, _MOST * stretch)
    return lost


def _step_seconds(core: Float, sampled: Int) -> Float:
    """(R - 1,) mean seconds of a step between each two samples."""
    total = np.concatenate([[0.0], np.cumsum(core)])
    return np.asarray((total[sampled[1:] + 1] - total[sampled[:-1] + 1]) / np.diff(sampled))


def _find_quiet_level(core: Float, sampled: Int, felt_delay: Float) -> float:
    """What a step takes where nobody is in the way; 0 where the run shows too little of that.

    Contention can't make a step take less than this, however much is counted.
    """
    seconds = _step_seconds(core, sampled)
    quiet = felt_delay / np.diff(sampled) <= _QUIET * seconds
    if np.mean(quiet) < _FEWEST_QUIET:
        return 0.0
    return float(np.median(seconds[quiet]))


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


def _fit_felt(core: Float, sampled: Int, delay: Float) -> float:
    """How much of a second of delay, summed over threads, the step gets longer by: 0 to 1."""
    if len(delay) < _FEWEST_STRETCHES:
        return 0.0
    # One step of a thousand that stalls for another reason would hide the tie.
    bounded = np.minimum(core, np.quantile(core, _DRAWN_IN))
    x, y = delay / np.diff(sampled), _step_seconds(bounded, sampled)
    if x.std() <= _LEAST_DELAY * y.mean() or y.std() == 0:
        return 0.0
    if np.corrcoef(x, y)[0, 1] < _TIED:
        return 0.0
    chosen = np.linspace(0, len(x) - 1, min(len(x), 300)).astype(np.int64)
    first, second = np.triu_indices(len(chosen), k=1)
    run = x[chosen][second] - x[chosen][first]
    rise = y[chosen][second] - y[chosen][first]
    apart = np.abs(run) > 0.1 * x.std()
    return float(np.clip(np.median(rise[apart] / run[apart]), 0.0, 1.0))
