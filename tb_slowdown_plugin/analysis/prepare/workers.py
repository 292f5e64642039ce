"""Several workers that train together: how long each waits, and for whom.

An all-reduce ends for all workers at the same moment, that of the last to
arrive. So the worker that waits least is the one that the others wait for, and
what it waits itself is the normal cost of communicating.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.text.wording import counted
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import FAR_BEYOND, MOSTLY, NEGLIGIBLE
from tb_slowdown_plugin.records.metadata import run_name
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float, Int, StepTable

_OWN_WORK: Final = frozenset(
    {names.COMMUNICATION, names.FORWARD, names.BACKWARD, names.OPTIMIZER, names.PHASE}
)
"""Families that say nothing of why a worker is late: its waiting, and its steps' own work."""


@dataclass(frozen=True, slots=True)
class WorkerGroup:
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


def find_group(run: Run) -> WorkerGroup | None:
    """What the workers of a run wait; None for one worker, or if they measured no waiting."""
    if not run.workers:
        return None
    members = (run, *run.workers)
    waiting = [_seconds(member.steps, waiting=True) for member in members]
    if not all(wait.any() for wait in waiting):
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
    return WorkerGroup(tuple(map(_index, members)), waits, late, lost)


def describe_workers(run: Run) -> tuple[Mapping[str, Any], ...]:
    """The workers as the report lists them, empty for one; `null` where nothing was measured."""
    if not run.workers:
        return ()
    group = find_group(run)
    last = () if group is None else count_last(group, run.steps)
    classes = host_classes(run)
    described = []
    for place, member in enumerate((run, *run.workers)):
        period = member.steps.period_seconds
        described.append(
            {
                "worker": _index(member),
                "run": member.name,
                "steps": len(period),
                "step_seconds": _rounded(float(np.median(period))) if len(period) else None,
                "wait_seconds": None,
                "others_wait_seconds": None,
                "last_steps": None,
                "last_in_a_row": None,
                "host_class": classes.get(_index(member)),
                "straggler": False,
                "reading": "waiting was not measured",
            }
        )
        if group is not None:
            described[-1].update(
                wait_seconds=_rounded(float(np.nansum(group.waits[place]))),
                others_wait_seconds=_rounded(float(group.late[place].sum())),
                last_steps=last[place].steps,
                last_in_a_row=last[place].in_a_row,
                straggler=group.straggler == place,
                reading=_reading(last, place, group.straggler, classes),
            )
    return tuple(sorted(described, key=lambda each: each["worker"]))


@dataclass(frozen=True, slots=True)
class Last:
    """How often a worker arrived last while the others waited notably for it."""

    worker: int
    steps: int
    in_a_row: int
    """Of those steps: the longest stretch."""


def count_last(group: WorkerGroup, steps: StepTable) -> tuple[Last, ...]:
    """How often each worker was last, in the order of the group.

    Args:
      group: The workers.
      steps: Of the first of them.
    """
    notable = group.late.max(axis=0) >= NEGLIGIBLE * np.median(steps.period_seconds)
    last = group.late.argmax(axis=0)[notable]
    return tuple(
        Last(index, int(np.count_nonzero(last == place)), _longest_stretch(last == place))
        for place, index in enumerate(group.indices)
    )


def _reading(
    last: tuple[Last, ...], place: int, straggler: int | None, classes: Mapping[int, str]
) -> str:
    """How often a worker is the last, in words."""
    own = last[place]
    late_steps = sum(each.steps for each in last)
    host_class = classes.get(own.worker)
    return (
        ("the straggler: " if place == straggler else "")
        + f"last in {own.steps:,} of {counted(late_steps, 'late step')}, {own.in_a_row:,} in a row"
        + (f", host class {host_class}" if host_class else "")
    )


def host_classes(run: Run) -> Mapping[int, str]:
    """Worker -> "A", "B", ...: its class of hosts, where `TF_CONFIG` names hosts of several."""
    numbers = {
        _index(member): int(member.environment.limits.get("host_class", 0))
        for member in (run, *run.workers)
    }
    if len({*numbers.values()} - {0}) < 2:
        return {}
    return {
        index: ascii_uppercase[number - 1] if number <= len(ascii_uppercase) else str(number)
        for index, number in numbers.items()
        if number > 0
    }


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


def _longest_stretch(values: NDArray[np.bool_]) -> int:
    """How many in a row are true at most."""
    edges = np.flatnonzero(np.diff(values, prepend=False, append=False))
    return int((edges[1::2] - edges[::2]).max(initial=0))


def _seconds(steps: StepTable, *, waiting: bool) -> Float:
    """Seconds of a step in communication, or in all accounts that are not the step's own work."""
    total = np.zeros(len(steps))
    for name, seconds in steps.accounts.items():
        family = names.family(name)
        if (family == names.COMMUNICATION) if waiting else (family not in _OWN_WORK):
            total += zero_where_unknown(seconds)
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


def _index(member: Run) -> int:
    if member.environment.worker_count > 1:
        return member.environment.worker_index
    return run_name(member.name)[1]


def _mean(values: Float | None) -> float:
    return 0.0 if values is None or not len(values) else float(np.nanmean(values))


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
