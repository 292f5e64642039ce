"""What each bucket of a timeline says: step times, what was lost, and accounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.catalog.accounts import account_title
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Epoch, Float, Int

DECIMALS: Final = 6
"""Step times are recorded to the microsecond."""

Lists: TypeAlias = Mapping[tuple[str, str], list[Any]]
"""(key of the body, name below it or "") -> a value for each bucket."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The buckets of a range of rows."""

    first: int
    last: int
    """Inclusive."""
    width: int
    """Rows in each bucket, but for the last one of a run."""
    lists: Lists

    def body(self) -> dict[str, Any]:
        """As they stand in the answer."""
        body: dict[str, Any] = {
            key: {} for key in ("row", "step", "time", "count", "step_seconds", "healthy", "lost")
        }
        body["accounts"] = []
        for (key, name), values in self.lists.items():
            if key == "accounts":
                account = {"account": name, "title": account_title(name), "seconds": values}
                body[key].append(account)
            elif name:
                body[key][name] = values
            else:
                body[key] = values
        return body


@dataclass(frozen=True, slots=True)
class Unranged:
    """What a timeline says of a run whichever of its rows are asked for."""

    accounts: tuple[str, ...]
    """In which the run spent any time, the largest first."""
    epochs: tuple[dict[str, int], ...]

    @classmethod
    def of(cls, run: Run) -> Unranged:
        """Looks at all steps and events of a run."""
        spent = {name: _total(seconds) for name, seconds in run.steps.accounts.items()}
        ranked = sorted(spent, key=lambda name: -spent[name])
        return cls(
            tuple(name for name in ranked if spent[name] > 0.0),
            tuple(
                {
                    "row": row,
                    "step": int(run.steps.number[row]),
                    "number": epoch.number,
                }
                for row, epoch in run.all_of(Epoch)
                if row < len(run.steps)
            ),
        )


def reduce_rows(
    run: Run, account: RunAccount, first: int, last: int, width: int, accounts: Iterable[str]
) -> Columns:
    """Reduces rows to buckets of `width` rows each; the last one may be shorter.

    Args:
      run: The run.
      account: What `account_for(run)` said of it.
      first: First row.
      last: Last row, inclusive; before `first` where the run has none.
      width: Rows of a bucket.
      accounts: Those to tell, in this order.
    """
    steps = run.steps
    view = slice(first, last + 1)
    starts = np.arange(first, last + 1, width) if len(steps) else np.empty(0, np.int64)
    local = starts - first
    period = steps.period_seconds[view]
    sizes = np.diff(np.append(local, len(period)))
    lists: dict[tuple[str, str], list[Any]] = {
        ("row", ""): starts.tolist(),
        ("step", ""): steps.number[starts].tolist(),
        ("time", ""): numbers(steps.ended[starts], 3),
        ("count", ""): sizes.tolist(),
    }
    for name, values in _step_seconds(period, local, sizes, width).items():
        lists["step_seconds", name] = values
    lists["healthy", ""] = _means(account.healthy_per_step[view], local, sizes)
    for cause, lost in account.lost_per_step.items():
        lists["lost", cause] = _means(lost[view], local, sizes)
    for name in accounts:
        lists["accounts", name] = _means(steps.accounts[name][view], local, sizes)
    return Columns(first, last, width, lists)


def numbers(values: Float, decimals: int = DECIMALS) -> list[float | None]:
    """Rounded; None where not measured."""
    rounded: list[float] = np.round(values, decimals).tolist()
    return [number if number == number else None for number in rounded]


def _step_seconds(
    period: Float, local: Int, sizes: Int, width: int
) -> dict[str, list[float | None]]:
    if not len(period):
        return {"mean": [], "median": [], "min": [], "max": []}
    whole = len(period) // width * width
    medians = np.median(period[:whole].reshape(-1, width), axis=1)
    if whole < len(period):
        medians = np.append(medians, np.median(period[whole:]))
    return {
        "mean": _means(period, local, sizes),
        "median": numbers(medians),
        "min": numbers(np.minimum.reduceat(period, local)),
        "max": numbers(np.maximum.reduceat(period, local)),
    }


def _means(values: Float, local: Int, sizes: Int) -> list[float | None]:
    if not len(values):
        return []
    return numbers(np.add.reduceat(values, local) / sizes)


def _total(seconds: Float) -> float:
    total = float(seconds.sum())
    # Passing over what was not measured takes ten times as long, and there is rarely any.
    return float(np.nansum(seconds)) if np.isnan(total) else total
