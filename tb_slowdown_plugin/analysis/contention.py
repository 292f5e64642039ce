"""Time in which the process wanted a core and got none: taken out of the core first.

The operating system counts it (run-queue delay, cgroup throttling), but only a
sample now and then sees the count, and it is the sum over all threads, which
wait side by side. So it is fitted how much of it the step really feels, from
the stretches between samples, and it is then booked to the slow steps of each.
The threads of one process wait for each other, too, but briefly: only waits that
are longer than those are other programs'.
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
SWITCHES: Final = ("voluntary_switches", "involuntary_switches")
"""Signals: how often the process's threads left a core, counted up."""
CONTENTION: Final = "contention"
"""The family of the accounts made here."""
ACCOUNTS: Final = {
    THREAD_RUN_DELAY: account(CONTENTION, "run_delay"),
    RUN_DELAY: account(CONTENTION, "run_delay"),
    THROTTLED: account(CONTENTION, "throttled"),
}
STARVED: Final = account(CONTENTION, "input")
"""Waiting for input that was late because its threads got no core (`starved.py`)."""
_FEWEST_STRETCHES: Final = 8
_MOST_STRETCHES: Final = 4000
_MOST: Final = 0.9
"""Of a step's time, at most so much is contention: something was computed, too."""
_TIED: Final = 0.5
"""Correlation of delay and step time over the stretches, from which they are tied together."""
_OWN_DELAY: Final = 0.1
"""Quantile of the run's delay a step that is taken for the threads' own."""
_OWN_WAIT_SECONDS: Final = 150e-6
"""Mean wait for a core after a switch, up to which a process's own threads make it: 1 to 152 us
in 30 recordings of `tests/programs` on idle cores, where that was up to 12 % of the wall; from
twice as much on all of it is others': 250 to 740 us with as many neighbours as cores."""
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
        Without `SWITCHES` all delay is taken for that of other programs.

    Returns:
      Account -> (S,) seconds, less than the core. The training thread's own delay
      counts in full, that of all threads as far as steps take longer with it.

    Raises:
      UsageError: A signal is not of shape (S,).
    """
    known_counts = {
        name: as_column(f"signals[{name!r}]", signals[name], len(core))
        for name in (*ACCOUNTS, *SWITCHES)
        if name in signals
    }
    counts = {name: known_counts[name] for name in ACCOUNTS if name in known_counts}
    foreign = find_foreign_share(known_counts, len(core))
    found: dict[str, Float] = {}
    known = np.zeros_like(core)
    for name, counted in counts.items():
        share = np.ones_like(core) if name == THROTTLED else foreign
        lost = _book(core, known, counted, share, exact=name == THREAD_RUN_DELAY)
        if lost.any():
            found[ACCOUNTS[name]] = found.get(ACCOUNTS[name], 0.0) + lost
            known = known + lost
    return found


def find_foreign_share(counts: Mapping[str, Float], size: int) -> Float:
    """(S,) how much of the delay at a row other programs have made: 0 to 1.

    Args:
      counts: `RUN_DELAY` and `SWITCHES`, (S,) each; without one of them all is foreign.
      size: S.
    """
    share = np.ones(size)
    if not all(name in counts for name in (RUN_DELAY, *SWITCHES)):
        return share
    voluntary, involuntary = SWITCHES
    switches = counts[voluntary] + counts[involuntary]
    sampled = np.flatnonzero(~np.isnan(counts[RUN_DELAY] + switches))
    if len(sampled) < 2:
        return share
    often = np.maximum(np.diff(switches[sampled]), 1.0)
    wait_seconds = np.diff(counts[RUN_DELAY][sampled]) / often
    between = np.clip(wait_seconds / _OWN_WAIT_SECONDS - 1.0, 0.0, 1.0)
    stretch = np.searchsorted(sampled, np.arange(size)) - 1
    return np.asarray(between[np.clip(stretch, 0, len(between) - 1)])


def _book(core: Float, known: Float, counted: Float, share: Float, *, exact: bool) -> Float:
    """Books what a count says beyond the contention that is known already."""
    lost = np.zeros_like(core)
    sampled = np.flatnonzero(~np.isnan(counted))
    sampled = sampled[:: max(1, len(sampled) // _MOST_STRETCHES)]
    if len(sampled) < 2:
        return lost
    delay = np.maximum(np.diff(counted[sampled]), 0.0) * _step_seconds(share, sampled)
    if not exact:
        # What the threads of a pool wait for each other is there without neighbours, too.
        steps = np.diff(sampled)
        delay = np.maximum(delay - _quantile(delay / steps, steps, _OWN_DELAY) * steps, 0.0)
        delay *= _fit_felt(core, sampled, delay)
        delay = np.maximum(delay - _step_seconds(known, sampled) * steps, 0.0)
    if not delay.any():
        return lost
    core = core - known
    quiet = _find_quiet_level(core, sampled, delay)
    for (first, last), waited in zip(pairwise(sampled.tolist()), delay.tolist(), strict=True):
        # A sample in row r was taken when that step had ended.
        stretch = core[first + 1 : last + 1]
        total = float(stretch.sum())
        seconds = min(waited, _MOST * total, total - quiet * len(stretch))
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
    steps = np.diff(sampled)
    quiet = felt_delay / steps <= _QUIET * seconds
    if steps[quiet].sum() < _FEWEST_QUIET * steps.sum():
        return 0.0
    return _quantile(seconds[quiet], steps[quiet], 0.5)


def _quantile(values: Float, steps: Int, share: float) -> float:
    """A quantile of stretches that count by their steps."""
    order = np.argsort(values)
    below = np.cumsum(steps[order])
    return float(values[order][np.searchsorted(below, share * below[-1])])


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
