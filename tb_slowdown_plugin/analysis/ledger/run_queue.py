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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.steps import as_samples
from tb_slowdown_plugin.analysis.stats.buckets import sum_between
from tb_slowdown_plugin.analysis.stats.samples import Samples, Signals
from tb_slowdown_plugin.catalog.signals import CORES, RUN_DELAY, SWITCHES, THREAD_RUN_DELAY
from tb_slowdown_plugin.records.types import Float, Int

_OWN_WAIT_SECONDS: Final = 100e-6
"""Mean wait for a core after a switch, times what is waited for each second computed, up to which
a process's own threads make it. In the healthy programs of `tests/programs`, on two and on four
idle cores, it is 0 to 76 us: some wait 200 us at a time, but 0.2 s for a second, others 1.2 s for a
second, but 30 us at a time. Beside a process that takes one of two cores it is from 100 us on in
all but those with a single busy thread, from 250 us on in five of six."""

_RAMP: Final = 0.5
"""All of the delay is others' where that is so much beyond: from 150 us on."""

_OWN_SHARE: Final = 0.2
"""Share of its time that the training thread waits for a core, up to which its own process makes
it: 0 to 18 % in the same programs on two idle cores; beside that neighbour 2 to 48 %."""


@dataclass(frozen=True, slots=True)
class Delays:
    """What was waited between samples of a count. `R` is the number of samples."""

    sampled: Int
    """(R,) rows after which the count was read, ascending."""
    seconds: Float
    """(R - 1,) between each two of them."""


def find_foreign_delays(
    seconds: Float, cpu: Float | None, signals: Signals, most: int
) -> Delays | None:
    """What the threads waited because of other programs.

    Args:
      seconds: (S,) of each step.
      cpu: (S,) CPU seconds of the process in each step; of steps with NaN nothing follows.
      signals: The names above. Without `SWITCHES` all delay is taken for that of other
        programs; without `CORES` or `cpu` it has no bound.
      most: Stretches to tell apart, at most about so many.

    Returns:
      None without two samples of `RUN_DELAY`.

    Raises:
      UsageError: A signal is not of shape (S,).
    """
    known = {
        name: as_samples(f"signals[{name!r}]", signals[name], len(seconds))
        for name in (RUN_DELAY, THREAD_RUN_DELAY, CORES, *SWITCHES)
        if name in signals
    }
    if RUN_DELAY not in known:
        return None
    delays = read_count(known[RUN_DELAY], most)
    if delays is None:
        return None
    sampled, delay = delays.sampled, delays.seconds
    delay *= find_foreign_share(known, seconds, cpu)[sampled[1:]]
    if CORES in known and cpu is not None:
        left = known[CORES].at(sampled[1:]) * sum_between(seconds, sampled)
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
        return np.ones(size)
    voluntary, involuntary = SWITCHES
    sampled, delay = counts[RUN_DELAY].rows, counts[RUN_DELAY].values
    switches = counts[voluntary].at(sampled) + counts[involuntary].at(sampled)
    known = ~np.isnan(switches)
    sampled, delay, switches = sampled[known], delay[known], switches[known]
    if len(sampled) < 2:
        return np.ones(size)
    often = np.maximum(np.diff(switches), 1.0)
    waited = np.diff(delay)
    whole = np.maximum(sum_between(seconds, sampled), 1e-9)
    computed = whole
    if cpu is not None:
        known_cpu = sum_between(cpu, sampled)
        computed = np.where(known_cpu > 0, known_cpu, whole)
    long_and_often = waited / often * waited / computed
    between = np.clip((long_and_often / _OWN_WAIT_SECONDS - 1.0) / _RAMP, 0.0, 1.0)
    if THREAD_RUN_DELAY in counts:
        held_up = np.diff(counts[THREAD_RUN_DELAY].at(sampled))
        # NaN, where that thread was not sampled, says nothing.
        between = np.fmax(between, np.clip(held_up / whole / _OWN_SHARE - 1.0, 0.0, 1.0))
    rows = np.diff(sampled)
    rows[0] += sampled[0] + 1
    rows[-1] += size - 1 - sampled[-1]
    return np.repeat(between, rows)
