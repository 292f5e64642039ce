"""Waits for input that other programs caused: they keep the threads that load it off the CPU, too.

The training thread then waits for a batch, not for a core, and no count of the system
says so. But the system counts, for all threads together, how long they computed and
how long they waited for a core. Where they computed for c seconds and waited for d, the
work of the process took (c + d) / c times as long as it would have alone, and so did
the loading of a batch; d / (c + d) of the wait for it is the neighbours'. A pipeline that
waits for a disk is not stretched like this, and then d is small beside the wait: no more
than d is charged.

This says whether the pipeline would be fast enough alone. Where it would not, all of
the wait is its own: without its slowness there were nothing to stretch, and the same
neighbours cost the step as much before the wait began as after.

Seen with `python -m benchmarks.accuracy.busy`: healthy programs that were held to a core
and a half waited for input for 20% of the run, two to five times as long as alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.ledger.run_queue import (
    find_foreign_delays,
    find_foreign_share,
    read_counts,
)
from tb_slowdown_plugin.analysis.prepare.steps import Steps
from tb_slowdown_plugin.analysis.stats.buckets import (
    Signals,
    sum_between,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION, STARVED
from tb_slowdown_plugin.catalog.parameters.ledger import FLAT_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import FAR_BEYOND
from tb_slowdown_plugin.catalog.parameters.stats import SMALLEST_CHANGE
from tb_slowdown_plugin.catalog.signals import (
    RUN_DELAY,
    SWITCHES,
)
from tb_slowdown_plugin.records.types import Float

_ODD_SHARE: Final = 0.1
"""Share of the waits at either end that may be odd."""
STRETCHED: Final = "stretched_seconds"
"""Number of a finding: seconds of it by which neighbours lengthened waits of the pipeline's own."""


def find_starved(seconds: Float, wait: Float, cpu: Float | None, signals: Signals) -> Float:
    """How much of the wait for input other programs caused.

    Args:
      seconds: (S,) of each step.
      wait: (S,) seconds that the step waited for input.
      cpu: (S,) CPU seconds of the process in each step; of steps with NaN, and of none,
        nothing follows.
      signals: Those of `run_queue.py`. Without `RUN_DELAY` and `SWITCHES` nothing is known.

    Returns:
      (S,) seconds, at most `wait`.

    Raises:
      UsageError: A signal is not of shape (S,).
    """
    starved = np.zeros(len(wait))  # unlike `zeros_like`, no memory where nothing is known
    if cpu is None or not all(name in signals for name in (RUN_DELAY, *SWITCHES)):
        return starved
    counts = read_counts(signals, len(wait))
    share = find_foreign_share(counts, seconds, cpu)
    delays = find_foreign_delays(counts, share, seconds, cpu, len(wait))
    if delays is None or _is_always_alike(wait):
        return starved
    sampled = delays.sampled
    computed, waited = sum_between(cpu, sampled), sum_between(wait, sampled)
    share = np.zeros_like(waited)
    known = (delays.seconds > 0) & (computed > 0) & (waited > 0)
    delay = delays.seconds[known]
    share[known] = np.minimum(delay / (computed[known] + delay), delay / waited[known])
    rows = slice(sampled[0] + 1, sampled[-1] + 1)
    starved[rows] = wait[rows] * np.repeat(share, np.diff(sampled))
    return starved


def _is_always_alike(wait: Float) -> bool:
    """Whether each step waits as long as the others, as for a clock: neighbours come and go."""
    waiting = wait[wait > 0]
    if len(waiting) < 2:
        return False
    low, high = np.quantile(waiting, (_ODD_SHARE, 1 - _ODD_SHARE))
    return bool(high - low < SMALLEST_CHANGE * low)


def judge_wait(
    steps: Steps, starved: Float, judge: Callable[[Steps], list[Finding]]
) -> tuple[Steps, list[Finding]]:
    """Judges what the neighbours leave of the input wait, and divides the wait between both.

    Args:
      steps: The run; all of its wait is in `INPUT_WAIT`.
      starved: (S,) seconds of the wait that neighbours caused.
      judge: Findings in the pipeline's part of a run whose wait is divided.

    Returns:
      The run with the wait divided, and the findings. A wait that is the pipeline's own
      keeps the part that neighbours stretched it by.
    """
    divided = _divide(steps, starved)
    findings = judge(divided)
    if divided is steps:
        return steps, findings
    own = divided.accounts[names.INPUT_WAIT]
    stretch = np.zeros_like(own)
    np.divide(starved, own, out=stretch, where=own > 0)
    stretched = [
        _lengthen(each, stretch) if each.source == names.INPUT_WAIT else each for each in findings
    ]
    kept = sum(
        (after.lost_per_step - each.lost_per_step)
        for each, after in zip(findings, stretched, strict=True)
    )
    return _divide(steps, np.maximum(starved - kept, 0.0)), stretched


def _divide(steps: Steps, starved: Float) -> Steps:
    """The run with these seconds (S,) of its input wait in `STARVED`."""
    if not starved.any():
        return steps
    wait = steps.accounts[names.INPUT_WAIT]
    parts = {names.INPUT_WAIT: wait - starved, STARVED: starved}
    return replace(steps, accounts={**steps.accounts, **parts})


def _lengthen(finding: Finding, stretch: Float) -> Finding:
    more = finding.lost_per_step * stretch
    lost = finding.lost_per_step + more
    numbers = {**finding.numbers, STRETCHED: float(more.sum())}
    return replace(finding, lost_per_step=lost, lost_seconds=float(lost.sum()), numbers=numbers)


def find_neighbours(steps: Steps, lost: Float, undisturbed_seconds: float) -> str | None:
    """The contention account that a rise of the input wait belongs to; None where none does.

    Other programs keep the threads that load the data off the CPU as well: where the
    step was held up for at least as long as the wait grew, and hardly elsewhere, the
    pipeline is not to blame for a wait that is still under its floor. Where their part
    of the wait is known, it is known roughly, and little more is theirs, too.

    Args:
      steps: The run.
      lost: (S,) seconds of the rise.
      undisturbed_seconds: Of the run, without all that others took.
    """
    inside = lost > 0
    if inside.all():
        return None
    if STARVED in steps.accounts:
        return STARVED if lost.sum() < FLAT_FLOOR * undisturbed_seconds else None
    for name, column in steps.accounts.items():
        if names.family(name) == CONTENTION and column[inside].sum() >= lost.sum():
            elsewhere = float(column[~inside].mean())
            if column[inside].mean() >= FAR_BEYOND * elsewhere:
                return name
    return None
