"""Waits for input that other programs caused: they keep the threads that load it off the CPU, too.

The training thread then waits for a batch, not for a core, and no count of the system
says so. But the system counts, for all threads together, how long they computed and
how long they waited for a core. Where they computed for c seconds and waited for d, the
work of the process took (c + d) / c times as long as it would have alone, and so did
the loading of a batch; d / (c + d) of the wait for it is the neighbours'. A pipeline that
waits for a disk is not stretched like this, and then d is small beside the wait: no more
than d is charged.

Seen with `python -m benchmarks.accuracy.busy`: healthy programs that were held to a core
and a half waited for input for 20 % of the run, two to five times as long as alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from tb_slowdown_plugin.analysis.contention import RUN_DELAY, SWITCHES, find_foreign_share
from tb_slowdown_plugin.analysis.steps import as_column
from tb_slowdown_plugin.records.types import Float


def find_starved(wait: Float, cpu: Float, signals: Mapping[str, ArrayLike]) -> Float:
    """How much of the wait for input other programs caused.

    Args:
      wait: (S,) seconds that the step waited for input.
      cpu: (S,) CPU seconds of the process in each step, NaN where not measured.
      signals: Cumulative counts, (S,), NaN where not sampled: `RUN_DELAY` and `SWITCHES`.
        Without all three nothing is known.

    Returns:
      (S,) seconds, at most `wait`.

    Raises:
      UsageError: A signal is not of shape (S,).
    """
    starved = np.zeros_like(wait)
    if not all(name in signals for name in (RUN_DELAY, *SWITCHES)):
        return starved
    counts = {
        name: as_column(f"signals[{name!r}]", signals[name], len(wait))
        for name in (RUN_DELAY, *SWITCHES)
    }
    foreign = find_foreign_share(counts, len(wait))
    sampled = np.flatnonzero(~np.isnan(counts[RUN_DELAY]))
    for first, last in pairwise(sampled.tolist()):
        rows = slice(first + 1, last + 1)
        delay = float(counts[RUN_DELAY][last] - counts[RUN_DELAY][first]) * float(foreign[last])
        computed = float(np.sum(cpu[rows]))
        waited = float(wait[rows].sum())
        if delay > 0 and computed > 0 and waited > 0:
            starved[rows] = wait[rows] * min(delay / (computed + delay), delay / waited)
    return starved
