"""Scalars of the program that change their level where its steps do: a batch size, a rate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.report_types.observations import ChangedScalar
from tb_slowdown_plugin.analysis.text.wording import significant
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import ALIKE, SERIES, STANDS_OUT
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

_WINDOW_SHARE: Final = 0.05
_MAX_WINDOW_ROWS: Final = 200
"""Rows that are compared on each side. Chosen by hand."""
_MOST_NAMED: Final = 4
_DIGITS: Final = 4


def find_changed_scalars(run: Run, onset: int) -> tuple[ChangedScalar, ...]:
    """The scalars whose level changes at a row more than it does elsewhere.

    Args:
      run: Drawn from scalars, or with scalars among its signals.
      onset: The row.
    """
    rows = run.signals.row
    size = len(rows)
    onset = int(np.searchsorted(rows, onset + 1))
    window = int(np.clip(_WINDOW_SHARE * size, SERIES, _MAX_WINDOW_ROWS))
    found = [
        (*change, name)
        for name, values in run.signals.values.items()
        if names.family(name) == names.SCALAR
        and (change := _change_at(values, onset, window)) is not None
    ]
    found.sort(key=lambda each: (-each[0], each[-1]))
    return tuple(
        ChangedScalar(
            names.detail(name), before, after, int(run.steps.number[rows[min(row, size - 1)] - 1])
        )
        for _, row, before, after, name in found[:_MOST_NAMED]
    )


def _change_at(values: Float, onset: int, window: int) -> tuple[float, int, float, float] | None:
    """(how far it stands out, row, before, after) of the change at a row; None without one."""
    first, end = max(0, onset - 2 * window), min(len(values), onset + 2 * window)
    near = values[first:end]
    if len(near) < 4 or not np.isfinite(near).all():
        return None
    row = first + _split(near)
    before, after = _levels(values, row, window)
    change = abs(after - before)
    if abs(row - onset) > window or not change > ALIKE * max(abs(before), abs(after)):
        return None
    others = [
        abs(b - a)
        for at in range(window, len(values) - window + 1, window)
        if abs(at - row) > window
        for a, b in [_levels(values, at, window)]
    ]
    usual = float(np.nanmedian(others)) if len(others) and not np.all(np.isnan(others)) else 0.0
    scatter = float(np.median(np.abs(near - np.where(np.arange(first, end) < row, before, after))))
    noise = max(usual, scatter)
    if change < STANDS_OUT * noise:
        return None
    return (change / noise if noise > 0 else np.inf), row, before, after


def _levels(values: Float, row: int, window: int) -> tuple[float, float]:
    before, after = values[max(0, row - window) : row], values[row : row + window]
    if not len(before) or not len(after):
        return np.nan, np.nan
    return float(np.median(before)), float(np.median(after))


def _split(values: Float) -> int:
    """Where a series falls best into two levels."""
    count = np.arange(1, len(values))
    sums = np.cumsum(values)[:-1]
    mean = float(values.mean())
    gain = (sums - count * mean) ** 2 / (count * (len(values) - count))
    return int(np.argmax(gain)) + 1


def describe_changed_scalars(changed: Iterable[ChangedScalar], unit: str) -> Iterable[str]:
    """A sentence for each."""
    for each in changed:
        yield (
            f"`{each.tag}` goes from {significant(each.before, _DIGITS)} to "
            f"{significant(each.after, _DIGITS)} at {unit} {each.step:,}, about where {unit}s get "
            "slower."
        )
