"""Several workers that train together: how long each waits, and for whom.

An all-reduce ends for all workers at the same moment, that of the last to
arrive. So the worker that waits least is the one that the others wait for, and
what it waits itself is the normal cost of communicating.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import FAR_BEYOND, MOSTLY
from tb_slowdown_plugin.records.types import Float, Int, Run, StepTable

_OWN_WORK: Final = frozenset(
    {names.COMMUNICATION, names.FORWARD, names.BACKWARD, names.OPTIMIZER, names.PHASE}
)
"""Families that say nothing of why a worker is late: its waiting, and its steps' own work."""


@dataclass(frozen=True, slots=True)
class Group:
    """The workers of a run, chief first. `W` workers, `S` steps of the chief."""

    indices: tuple[int, ...]
    """(W,) number of each worker."""
    waits: Float
    """(W, S) seconds that each waits; NaN where a worker has no step of that number."""
    late: Float
    """(W, S) seconds that the others wait for it beyond its own wait; 0 for all but the last
    to arrive."""
    lost: Float
    """(S,) seconds of the chief's step that are lost to waiting for the straggler, or, where
    the chief is the straggler, to making the others wait for no reason that it measured."""

    @property
    def straggler(self) -> int | None:
        """The place in `indices` of the worker that the others wait for, None if it changes."""
        return _straggler(self.late)

    @property
    def price(self) -> Float:
        """(S,) seconds that the last to arrive waits, too: of communicating itself."""
        return np.asarray(np.nan_to_num(self.waits.min(axis=0)))


def find_group(run: Run) -> Group | None:
    """What the workers of a run wait; None for one worker, or if they measured no waiting."""
    members = (run, *run.workers)
    waiting = [_seconds(member.steps, waiting=True) for member in members]
    if len(members) < 2 or not all(wait.any() for wait in waiting):
        return None
    rows = [_rows_of(run.steps.number, member.steps.number) for member in members]
    waits = _gather(waiting, rows)
    together = ~np.isnan(waits).any(axis=0)
    if not together.any():
        return None
    known = waits[:, together]
    last = np.argmin(known, axis=0)
    late = np.zeros_like(waits)
    lateness = _median_of_others(known, last) - known.min(axis=0)
    late[last, np.flatnonzero(together)] = lateness
    lost = np.zeros(len(run.steps))
    lost[together] = known[0] - known.min(axis=0)
    if _straggler(late) == 0:
        explained = _gather([_seconds(member.steps, waiting=False) for member in members], rows)
        own = explained[:, together]
        excess = np.maximum(own[0] - _median_of_others(own, np.zeros_like(last)), 0.0)
        lost[together] += np.where(last == 0, np.maximum(lateness - excess, 0.0), 0.0)
    alone = ~together
    lost[alone] = np.maximum(waiting[0][alone] - float(np.median(known.min(axis=0))), 0.0)
    return Group(tuple(_index(member, n) for n, member in enumerate(members)), waits, late, lost)


def describe_workers(run: Run) -> tuple[Mapping[str, Any], ...]:
    """The workers as the report lists them, empty for one; `null` where nothing was measured."""
    if not run.workers:
        return ()
    group = find_group(run)
    described = []
    for place, member in enumerate((run, *run.workers)):
        period = member.steps.period_seconds
        described.append(
            {
                "worker": _index(member, place),
                "steps": len(period),
                "step_seconds": _rounded(float(np.median(period))) if len(period) else None,
                "wait_seconds": None,
                "others_wait_seconds": None,
                "straggler": False,
            }
        )
        if group is not None:
            described[-1].update(
                wait_seconds=_rounded(float(np.nansum(group.waits[place]))),
                others_wait_seconds=_rounded(float(group.late[place].sum())),
                straggler=group.straggler == place,
            )
    return tuple(described)


def excess_by_account(run: Run, place: int) -> dict[str, float]:
    """Seconds a step that one worker spends in each account beyond the median of the others.

    "" is what no account holds.
    """
    members = (run, *run.workers)
    found = {}
    accounts = {name for member in members for name in member.steps.accounts}
    for name in sorted(accounts - {n for n in accounts if names.family(n) == names.COMMUNICATION}):
        means = [_mean(member.steps.accounts.get(name)) for member in members]
        found[name] = means[place] - float(np.median(means[:place] + means[place + 1 :]))
    rest = [
        _mean(member.steps.period_seconds)
        - sum(_mean(seconds) for seconds in member.steps.accounts.values())
        for member in members
    ]
    found[""] = rest[place] - float(np.median(rest[:place] + rest[place + 1 :]))
    return found


def _straggler(late: Float) -> int | None:
    """The worker that most of the waiting is for, by what the others wait for each, (W, S)."""
    total = late.sum(axis=1)
    *_, second, most = np.sort(total)
    if most > MOSTLY * total.sum() and most >= FAR_BEYOND * second:
        return int(np.argmax(total))
    return None


def _seconds(steps: StepTable, *, waiting: bool) -> Float:
    """Seconds of a step in communication, or in all accounts that are not the step's own work."""
    total = np.zeros(len(steps))
    for name, seconds in steps.accounts.items():
        family = names.family(name)
        if (family == names.COMMUNICATION) if waiting else (family not in _OWN_WORK):
            total += np.nan_to_num(seconds)
    return total


def _rows_of(numbers: Int, others: Int) -> Int:
    """The last row of `others` with each of these step numbers, -1 where there is none."""
    if not len(others):
        return np.full(len(numbers), -1)
    order = np.argsort(others, kind="stable")
    ordered = others[order]
    found = np.searchsorted(ordered, numbers, side="right") - 1
    matches = (found >= 0) & (ordered[np.maximum(found, 0)] == numbers)
    return np.where(matches, order[np.maximum(found, 0)], -1)


def _gather(columns: list[Float], rows: list[Int]) -> Float:
    gathered = np.full((len(columns), len(rows[0])), np.nan)
    for place, (column, row) in enumerate(zip(columns, rows, strict=True)):
        known = row >= 0
        gathered[place, known] = column[row[known]]
    return gathered


def _median_of_others(values: Float, place: Int) -> Float:
    """(S,) median over the workers other than `place[s]` of (W, S) values."""
    rest = values.copy()
    rest[place, np.arange(values.shape[1])] = np.inf
    rest.sort(axis=0)
    count = len(values) - 1
    middle = rest[(count - 1) // 2 : count // 2 + 1]
    return np.asarray(middle.mean(axis=0))


def _index(member: Run, place: int) -> int:
    return member.environment.worker_index if member.environment.worker_count > 1 else place


def _mean(values: Float | None) -> float:
    return 0.0 if values is None or not len(values) else float(np.nanmean(values))


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
