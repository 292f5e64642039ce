"""What a test asks of a recorded run: accounts, samples, facts, traces."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Fact, Trace


def seconds(run: Run, account: str) -> float:
    """All seconds of an account; 0 where it does not occur."""
    return float(np.nansum(run.steps.accounts.get(account, np.zeros(1))))


def steps_with(run: Run, account: str) -> int:
    return int(np.count_nonzero(np.nan_to_num(run.steps.accounts[account])))


def ends(run: Run, signal: str) -> tuple[float, float]:
    """First and last sample of a signal."""
    values = run.signals.values[signal]
    known = values[~np.isnan(values)]
    assert len(known) > 3
    return float(known[0]), float(known[-1])


def rise(run: Run, signal: str) -> float:
    first, last = ends(run, signal)
    return last - first


def between(run: Run, signal: str, first_step: int, last_step: int) -> float:
    """How far a counter went between two steps."""
    rows, values = run.signals.row, run.signals.values[signal]
    known = ~np.isnan(values)
    at = np.interp([first_step, last_step], rows[known], values[known])
    return float(at[1] - at[0])


def facts(run: Run, name: str) -> list[Fact]:
    whats = [event.what for event in run.events]
    return [what for what in whats if isinstance(what, Fact) and what.name == name]


def traces(run: Run, cause: str) -> list[Trace]:
    whats = [event.what for event in run.events]
    return [what for what in whats if isinstance(what, Trace) and what.cause == cause]


def late_to_early(run: Run) -> float:
    """Median step time of the last fifth to that of the second fifth."""
    fifths = np.array_split(run.steps.period_seconds, 5)
    return float(np.median(fifths[4]) / np.median(fifths[1]))
