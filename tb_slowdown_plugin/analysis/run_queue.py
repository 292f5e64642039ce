"""How long the threads of a process waited for a core that other programs had.

The system counts, for all threads together, how long they wanted a core and got none.
Not all of that is other programs' doing:

- The threads of one process wait for each other, too, but briefly, and the training thread
  seldom: only waits that are longer than those count, or waits of that thread for more of
  its time. (Threads that hand over thousands of small jobs a second wait briefly on average
  even where others keep some of them waiting for long.)
- No program can take more than the process left: of `n` cores for `w` seconds, less
  what the process itself computed there. Threads that wait beyond that would wait for
  each other without anybody else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tb_slowdown_plugin.analysis.steps import as_column
from tb_slowdown_plugin.records.types import Float, Int

RUN_DELAY: Final = "run_delay_seconds"
"""Signal: seconds that the process's threads waited for a core, counted up."""
THREAD_RUN_DELAY: Final = "thread_run_delay_seconds"
"""Signal: the same of the training thread alone; each of its seconds is one of the step."""
SWITCHES: Final = ("voluntary_switches", "involuntary_switches")
"""Signals: how often the process's threads left a core, counted up."""
CORES: Final = "allowed_cores"
"""Signal: cores that the process may use."""
_OWN_WAIT_SECONDS: Final = 150e-6
"""Mean wait for a core after a switch, up to which a process's own threads make it: 1 to 152 us
in 30 recordings of `tests/programs` on idle cores, where that was up to 12 % of the wall; from
twice as much on all of it is others': 250 to 740 us with as many neighbours as cores."""
_OWN_SHARE: Final = 0.12
"""Share of its time that the training thread waits for a core, up to which its own process makes
it: 0 to 11 % in the recordings of `tests/programs` on idle cores; beside a neighbour 2 to 45 %."""


@dataclass(frozen=True, slots=True)
class Delays:
    """What was waited between samples of a count. `R` is the number of samples."""

    sampled: Int
    """(R,) rows after which the count was read, ascending."""
    seconds: Float
    """(R - 1,) between each two of them."""


def find_foreign_delays(
    seconds: Float, cpu: Float | None, signals: Mapping[str, ArrayLike], most: int
) -> Delays | None:
    """What the threads waited because of other programs.

    Args:
      seconds: (S,) of each step.
      cpu: (S,) CPU seconds of the process in each step; of steps with NaN nothing follows.
      signals: (S,) each, NaN where not sampled: the names above. Without `SWITCHES` all
        delay is taken for that of other programs; without `CORES` or `cpu` it has no bound.
      most: Stretches to tell apart, at most about so many.

    Returns:
      None without two samples of `RUN_DELAY`.

    Raises:
      UsageError: A signal is not of shape (S,).
    """
    known = {
        name: as_column(f"signals[{name!r}]", signals[name], len(seconds))
        for name in (RUN_DELAY, THREAD_RUN_DELAY, CORES, *SWITCHES)
        if name in signals
    }
    if RUN_DELAY not in known:
        return None
    delays = read_count(known[RUN_DELAY], most)
    if delays is None:
        return None
    sampled, delay = delays.sampled, delays.seconds
    delay *= find_foreign_share(known, seconds)[sampled[1:]]
    if CORES in known and cpu is not None:
        left = known[CORES][sampled[1:]] * sum_between(seconds, sampled)
        left -= sum_between(cpu, sampled)
        # NaN, where either was not measured, sets no bound.
        delay = np.fmin(delay, np.maximum(left, 0.0))
    return Delays(sampled, delay)


def read_count(counted: Float, most: int) -> Delays | None:
    """What a count (S,) rose by between its samples; None without two of them.

    Args:
      counted: NaN where not sampled.
      most: Stretches to tell apart, at most about so many.
    """
    sampled = np.flatnonzero(~np.isnan(counted))
    sampled = sampled[:: max(1, len(sampled) // most)]
    if len(sampled) < 2:
        return None
    return Delays(sampled, np.maximum(np.diff(counted[sampled]), 0.0))


def find_foreign_share(counts: Mapping[str, Float], seconds: Float) -> Float:
    """(S,) how much of the delay at a row other programs have made: 0 to 1.

    Args:
      counts: `RUN_DELAY` and `SWITCHES`, (S,) each; without one of them all is foreign.
        `THREAD_RUN_DELAY` if it is known.
      seconds: (S,) of each step.
    """
    size = len(seconds)
    share = np.ones(size)
    if not all(name in counts for name in (RUN_DELAY, *SWITCHES)):
        return share
    voluntary, involuntary = SWITCHES
    sampled = np.flatnonzero(~np.isnan(counts[RUN_DELAY]))
    switches = counts[voluntary][sampled] + counts[involuntary][sampled]
    known = ~np.isnan(switches)
    sampled, switches = sampled[known], switches[known]
    if len(sampled) < 2:
        return share
    often = np.maximum(np.diff(switches), 1.0)
    wait_seconds = np.diff(counts[RUN_DELAY][sampled]) / often
    between = np.clip(wait_seconds / _OWN_WAIT_SECONDS - 1.0, 0.0, 1.0)
    if THREAD_RUN_DELAY in counts:
        held_up = np.diff(counts[THREAD_RUN_DELAY][sampled])
        whole = np.maximum(sum_between(seconds, sampled), 1e-9)
        # NaN, where that thread was not sampled, says nothing.
        between = np.fmax(between, np.clip(held_up / whole / _OWN_SHARE - 1.0, 0.0, 1.0))
    rows = np.diff(sampled)
    rows[0] += sampled[0] + 1
    rows[-1] += size - 1 - sampled[-1]
    return np.repeat(between, rows)


def sum_between(column: Float, sampled: Int) -> Float:
    """(R - 1,) sums of a column (S,) between each two samples.

    A sample in row r was taken when that step had ended.

    >>> sum_between(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.array([0, 2, 3])).tolist()
    [6.0, 8.0]
    """
    return np.asarray(np.add.reduceat(column[: sampled[-1] + 1], sampled[:-1] + 1))
