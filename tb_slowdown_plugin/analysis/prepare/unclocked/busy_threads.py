"""What threads of the program take from the step beside it: cores, and its turns in Python.

Where the process keeps its cores busy, a step gets so much less of them, and takes longer by that
share. A step that can't use all cores loses less, and what the training thread waited for a core,
which Linux counts, is the least. Of a thread that computes for itself the middle of both counts:
24% instead of 28% (`benchmarks/accuracy/tune/programs`: dovecote_occupancy).

A thread that polls doesn't give Python's lock away: whoever wants it waits for 5 ms until it must.
So does the training thread each time it comes back from TensorFlow, with a batch, from a function,
or with a number. How often isn't known. At least it is the time in which no other thread of the
process computes, and that nothing else explains; and what a trace takes beyond its own CPU time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import COMPUTING_AT, POLLING_AT
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MOSTLY
from tb_slowdown_plugin.catalog.signals import (
    COMPUTING_SECONDS,
    POLLING_SECONDS,
    THREAD_RUN_DELAY,
)
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

BUSY: Final = {
    names.POLLING: (POLLING_SECONDS, POLLING_AT),
    names.OWN_THREAD: (COMPUTING_SECONDS, COMPUTING_AT),
}
"""Account -> the signal that counts its CPU time, and the fact with its lines."""
TURN_SECONDS: Final = 0.005
"""For so long a thread of Python keeps the lock that others wait for (`sys.getswitchinterval`)."""


def with_busy_threads(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for each kind of such threads, where cores are what steps wait for.

    Args:
      run: The recording.
      measured: Account -> (S,) exclusive seconds; what is in none is the step's own work.
    """
    made = dict(measured)
    for account in BUSY:
        spent = find_spent(run, account)
        if spent is None or not spent.any():
            continue
        taken = _share_of_cores(run, account, spent)
        if account == names.POLLING:
            turns, fetches = _wait_for_turns(run, made, spent)
            if fetches.any():
                made[names.INPUT_WAIT] = made[names.INPUT_WAIT] - fetches
            taken = taken + turns + fetches
            waits = _wait_in_traces(run, made) if _mostly_polls(run) else {}
            for tracing, waited in waits.items():
                made[tracing] = made[tracing] - waited
                taken = taken + waited
        seconds = np.minimum(taken, left_over(run, made))
        if seconds.any():
            made[names.account(account, main_line(run, account))] = seconds
    return made


def keeps_cores_busy(run: Run) -> bool:
    """Whether the process uses nearly all that it may."""
    cores = run.environment.limits.get("cpu_count", np.inf)
    wall = float(run.steps.period_seconds.sum())
    return float(np.nansum(run.steps.process_cpu_seconds)) >= MOSTLY * cores * wall


def _share_of_cores(run: Run, account: str, spent: Float) -> Float:
    """(S,) that a step takes longer for the cores that it doesn't get; zero where some are free."""
    if not keeps_cores_busy(run):
        return np.zeros(len(run.steps))
    taken = spent / run.environment.limits["cpu_count"]
    waited = _count(run, THREAD_RUN_DELAY)
    if account == names.OWN_THREAD and waited is not None:
        taken = (taken + np.minimum(waited, taken)) / 2
    return taken


def _wait_for_turns(run: Run, made: Mapping[str, Float], spent: Float) -> tuple[Float, Float]:
    """(S,) seconds of waiting for Python's lock after calls of functions, and (S,) with a batch.

    Args:
      run: The recording.
      made: Account -> (S,) seconds. Of the wait for input is what is waited with a batch, which
        shows that there is any.
      spent: (S,) CPU seconds of threads while they poll.
    """
    spent = spent * _whole_of_polling(run)
    polled = spent >= MAJORITY * run.steps.period_seconds
    none = np.zeros(len(run.steps))
    if not polled.any():
        return none, none
    fetches = none
    input_wait = made.get(names.INPUT_WAIT)
    if input_wait is not None:
        fetches = np.where(polled, np.minimum(zero_where_unknown(input_wait), TURN_SECONDS), 0.0)
        if np.median(fetches[polled]) < MOSTLY * TURN_SECONDS:
            return none, none  # it gives the lock away, as `time.sleep(0)` does
    calls = np.where(polled, TURN_SECONDS * run.steps.calls, 0.0)
    return np.maximum(calls, _wait_for_nothing(run, made, spent, polled) - fetches), fetches


def _wait_in_traces(run: Run, made: Mapping[str, Float]) -> dict[str, Float]:
    """Accounts of tracing -> (S,) seconds of it in which the training thread waited for its turn.

    A function is traced in Python, operation by operation, and each of them may wait: a trace of
    2.3 s of CPU time took 14 s beside a thread that polls (TensorFlow 2.21, 2026-11-30). TensorFlow
    itself has nothing to compute until the trace is there, so other threads that compute meanwhile
    are the program's, also before samples of their stacks show what they do.
    """
    period, own = run.steps.period_seconds, run.steps.thread_cpu_seconds
    others = run.steps.process_cpu_seconds - own
    waits: dict[str, Float] = {}
    for account, seconds in made.items():
        if names.family(account) == names.TRACING:
            beside = (seconds >= MAJORITY * period) & (others >= MAJORITY * seconds)
            waited = np.where(beside, np.maximum(seconds - own, 0.0), 0.0)
            if waited.any():
                waits[account] = waited
    return waits


def _whole_of_polling(run: Run) -> float:
    """By how much more such threads computed in all than while they polled.

    1 where that is most of it: such a thread does its work, and polls now and then.
    """
    polled, whole = _sum_polling(run)
    return max(whole / polled, 1.0) if _mostly_polls(run) else 1.0


def _mostly_polls(run: Run) -> bool:
    """Whether such threads do little else."""
    polled, whole = _sum_polling(run)
    return polled > 0 and polled >= MAJORITY * whole


def _sum_polling(run: Run) -> tuple[float, float]:
    """CPU seconds of such threads while they polled, and in all."""
    newest = {told.subject: told.numbers for _, told in run.facts(POLLING_AT)}
    polled = sum(numbers["seconds"] for numbers in newest.values())
    return polled, sum(numbers.get("thread_seconds", 0.0) for numbers in newest.values())


def _wait_for_nothing(
    run: Run, made: Mapping[str, Float], spent: Float, polled: NDArray[np.bool_]
) -> Float:
    """(S,) seconds in which nothing but threads that poll computed, and of which nothing is known.

    The same share of each step: the clock of the process may tick once in many steps. With another
    device than a CPU it may be that one that computes.
    """
    steps = run.steps
    polled = polled & (steps.calls > 0) & ~np.isnan(steps.process_cpu_seconds)
    if not run.environment.is_cpu_alone or not polled.any():
        return np.zeros(len(steps))
    computed = np.maximum(zero_where_unknown(steps.process_cpu_seconds) - spent, 0.0)
    waited = _count(run, THREAD_RUN_DELAY)
    known = sum((zero_where_unknown(each) for each in made.values()), np.zeros(len(steps)))
    idle = steps.period_seconds - computed - known - (0.0 if waited is None else waited)
    share = max(float(idle[polled].sum()) / float(steps.period_seconds[polled].sum()), 0.0)
    return np.where(polled, share * steps.period_seconds, 0.0)


def find_spent(run: Run, account: str) -> Float | None:
    """(S,) CPU seconds that such threads took beside each step, even between two samples."""
    signal, _ = BUSY[account]
    # Before the first sample none had.
    return _count(run, signal, before=0.0)


def find_beginning(run: Run, account: str) -> tuple[int, int] | None:
    """Between which rows the first of them began; None where one was there from the start."""
    signal, _ = BUSY[account]
    values, rows = run.signals.values.get(signal), run.signals.row
    if values is None or not (values > 0).any():
        return None
    first = int(rows[np.argmax(values > 0)])
    if first <= rows[0]:
        return None
    return int(rows[rows < first].max()), first + 1


def main_line(run: Run, account: str) -> str:
    """The line that took most of it."""
    _, fact = BUSY[account]
    seconds = {told.subject: told.numbers["seconds"] for _, told in run.facts(fact)}
    return max(seconds, key=lambda place: seconds[place], default="")


def _count(run: Run, signal: str, before: float | None = None) -> Float | None:
    """(S,) by how much a count rose beside each step; None where it wasn't sampled."""
    values = run.signals.values.get(signal)
    if values is None or np.isnan(values).all():
        return None
    known = ~np.isnan(values)
    edges = np.arange(len(run.steps) + 1)
    # A sample stands in the last row that it has seen.
    counted = np.interp(edges, run.signals.row[known] + 1, values[known], left=before)
    return np.asarray(np.maximum(np.diff(counted), 0.0))
