"""The arrays of a run, made fit for analysis: finite, aligned, and adding up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from tb_slowdown_plugin.analysis.stats.buckets import (
    Samples,
)
from tb_slowdown_plugin.analysis.stats.events import is_sparse
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.catalog.accounts import rule_of
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.records.types import Float, Int

_SHORTEST_SECONDS: Final = 1e-9
"""Clocks tell no shorter time; to divide by one would overflow."""


@dataclass(frozen=True, slots=True)
class Steps:
    """A run as the engine sees it. `S` is the number of steps."""

    seconds: Float
    """(S,) finite and not negative; a period that could not be measured is 0."""
    accounts: Mapping[str, Float]
    """(S,) each, finite and not negative; in each step they sum up to at most `seconds`."""
    core: Float
    """(S,) seconds that no account holds, `parts` included."""
    parts: tuple[str, ...]
    """Accounts of the step's own work: phases that most steps have."""
    typical_seconds: float
    """Median of `seconds`; 0 without a step."""
    wall_seconds: float
    """The sum of all periods."""
    epochs: Int
    """Ascending rows at which an epoch begins."""
    cpu_seconds: Float | None = None
    """(S,) of the process, also where the clock was not read; None where it never was."""

    def __len__(self) -> int:
        return len(self.seconds)


def prepare_steps(
    step_seconds: ArrayLike,
    measured: Mapping[str, ArrayLike],
    epochs: Sequence[int] | Int | None,
    cpu_seconds: ArrayLike | None = None,
) -> Steps:
    """Makes the arrays of a run fit for analysis.

    Times that are NaN, infinite or negative (a clock that jumped) count as 0 s.
    Accounts that claim more than their step took are scaled down to it.

    Args:
      step_seconds: (S,) seconds.
      measured: account -> (S,) exclusive seconds; NaN counts as 0 s.
      epochs: Rows at which epochs begin; rows outside the run are ignored.
      cpu_seconds: (S,) of the process; NaN where the clock was not read.

    Raises:
      UsageError: An array is not of shape (S,).
    """
    seconds = _clean(step_seconds)
    if seconds.ndim != 1:
        raise UsageError(
            f"step_seconds has shape {seconds.shape}; it must be one-dimensional: "
            "give one number for each step"
        )
    accounts = {}
    total = np.zeros(len(seconds))
    for name, values in measured.items():
        column = _clean(as_column(f"measured[{name!r}]", values, len(seconds)))
        if column.any():
            accounts[name] = column
            total += column
    over = total > seconds
    if over.any():
        shrink = np.ones_like(seconds)
        shrink[over] = seconds[over] / total[over]
        accounts = {name: column * shrink for name, column in accounts.items()}
    core = seconds.copy()
    parts = []
    for name, column in accounts.items():
        if rule_of(name).class_ == "part" and not is_sparse(column):
            parts.append(name)
        else:
            core -= column
    np.maximum(core, 0.0, out=core)
    used = None if cpu_seconds is None else as_column("cpu_seconds", cpu_seconds, len(seconds))
    return Steps(
        seconds,
        accounts,
        core,
        tuple(parts),
        typical_seconds=median(seconds) if len(seconds) else 0.0,
        wall_seconds=float(seconds.sum()),
        epochs=_rows(epochs, len(seconds)),
        cpu_seconds=None if used is None else fill_unknown(used, seconds),
    )


def as_column(name: str, values: ArrayLike | Samples, count: int) -> Float:
    """An array (S,) of numbers that the caller gave.

    Raises:
      UsageError: It has another shape.
    """
    if isinstance(values, Samples):
        return values.spread(count)
    column = np.asarray(values, np.float64)
    if column.shape != (count,):
        raise UsageError(
            f"{name} has shape {column.shape}, step_seconds ({count},); "
            "give one number for each step, NaN where it was not measured"
        )
    return column


def as_samples(name: str, values: ArrayLike | Samples, count: int) -> Samples:
    """The samples among the values (S,) of a signal that the caller gave, NaN where there is none.

    Raises:
      UsageError: The array has another shape.
    """
    if isinstance(values, Samples):
        return values
    column = as_column(name, values, count)
    rows = np.flatnonzero(~np.isnan(column))
    return Samples(rows, column[rows])


def fill_unknown(cpu: Float, seconds: Float) -> Float | None:
    """CPU seconds in each step, where some are unknown: as much a second as in the last known one.

    The clocks of CPU time are read seldom, and the last steps before a flush may come after
    the last reading. Sums over stretches of steps need a number there.

    Args:
      cpu: (S,) CPU seconds of each step, NaN where not measured.
      seconds: (S,) how long each step took.

    Returns:
      (S,) finite; None where nothing was measured.

    Example:
      >>> import numpy as np
      >>> fill_unknown(np.array([np.nan, 0.3, np.nan]), np.array([0.1, 0.1, 0.2])).tolist()
      [0.3, 0.3, 0.6]
    """
    known = np.isfinite(cpu)
    if known.all():
        return cpu
    if not known.any():
        return None
    last = np.maximum.accumulate(np.where(known, np.arange(len(cpu)), np.argmax(known)))
    measured = seconds[last] >= _SHORTEST_SECONDS
    share = np.divide(seconds, seconds[last], out=np.zeros_like(cpu), where=measured)
    return np.where(known, cpu, cpu[last] * share)


def take_out(steps: Steps, accounts: Mapping[str, Float]) -> Steps:
    """The same run with seconds of its core booked to accounts of their own."""
    core = steps.core
    for column in accounts.values():
        core = core - column
    return replace(steps, accounts={**steps.accounts, **accounts}, core=core)


def _clean(values: ArrayLike) -> Float:
    array = np.asarray(values, dtype=np.float64)
    if array.size and array.min() >= 0 and array.max() < np.inf:  # NaN is neither
        return array
    bad = ~(array >= 0) | np.isinf(array)
    if bad.any():
        array = np.where(bad, 0.0, array)
    return array


def _rows(epochs: Sequence[int] | Int | None, count: int) -> Int:
    if epochs is None:
        return np.empty(0, np.int64)
    rows = np.unique(np.asarray(epochs, dtype=np.int64))
    return rows[(rows >= 0) & (rows < count)]
