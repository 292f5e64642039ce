"""In which pattern an account loses its seconds: at every step, at intervals, or more and more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.ledger.findings import find_losses, make_finding
from tb_slowdown_plugin.analysis.stats.buckets import bucket
from tb_slowdown_plugin.analysis.stats.events import find_growth, is_at_boundaries
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.stats.trend import Trend, fit_trend
from tb_slowdown_plugin.analysis.types import Finding, Pattern
from tb_slowdown_plugin.catalog.parameters.ledger import GROWN_EVENTS, REGULAR_GAP, SURE_STEPS
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MATTERS, MOSTLY
from tb_slowdown_plugin.catalog.parameters.stats import SIGNIFICANCE_OF_SHORT
from tb_slowdown_plugin.records.types import Float, Int

_OFFSET: Final = 0.1
"""Share of the usual step that is added to an account before logarithms are taken, so that a
change counts from 0.5% of the step (5% of a tenth)."""
_MOST_BUCKETS: Final = 512
_EVENTS_IN_BUCKET: Final = 4


@dataclass(frozen=True, slots=True)
class Spent:
    """What of an account counts, and what its course is judged by."""

    account: str
    seconds: Float
    """(S,)."""
    events: Int
    """(E,) rows in which it took time."""
    warm_up_rows: int
    """Rows before the run was steady."""
    unit: float
    """Seconds of a usual step."""
    epochs: Int
    """Rows at which passes begin."""


class AccountRise(NamedTuple):
    """What an account grew by."""

    pattern: Pattern
    lost: Float
    """(S,) seconds."""
    numbers: dict[str, float]


def name_whole(spent: Spent) -> Finding:
    """The finding of an account all of whose seconds are lost."""
    column, events = spent.seconds, spent.events
    if column[events].sum() < MAJORITY * column.sum():  # those that stand out are not it
        events = np.flatnonzero(column > 0)
    numbers = {"events": float(len(events)), "seconds_per_event": float(column[events].mean())}
    pattern: Pattern = "flat"
    span = (int(events[0]), int(events[-1]))
    growth = find_growth(column, events)
    if len(events) > 1 and is_at_boundaries(column, spent.epochs):
        pattern = "epoch_boundary"
    elif len(events) <= 2:
        pattern = "one_off"
    elif growth is not None and growth.lost_per_step.sum() >= GROWN_EVENTS * column.sum():
        pattern = "drift"
        numbers.update(growth.numbers)
    else:
        largest = _find_largest_rise(spent)
        if largest is not None:
            pattern = largest.pattern
            numbers.update(largest.numbers)
            rows = np.flatnonzero(largest.lost)
            span = (int(rows[0]), int(rows[-1]))
        elif period := _find_period(events):
            pattern = "periodic"
            numbers["period_steps"] = period
    whole = make_finding(spent.account, pattern, column, "high", numbers)
    return replace(whole, rows=span)


def _find_period(events: Int) -> float:
    """The usual gap between events that come at regular ones; 0 where they do not."""
    gaps = np.diff(events)
    usual = median(gaps)
    regular = usual > 1 and np.mean(np.abs(gaps / usual - 1) <= REGULAR_GAP) >= MOSTLY
    return usual if regular else 0.0


def _find_largest_rise(spent: Spent) -> AccountRise | None:
    rises = find_rises(spent)
    if not rises:
        return None
    largest = max(rises, key=lambda each: float(each.lost.sum()))
    least = MAJORITY if largest.pattern == "level_shift" else MAJORITY / 2
    return largest if largest.lost.sum() >= least * spent.seconds.sum() else None


def find_rises(spent: Spent) -> list[AccountRise]:
    """What it grew by after the warm-up; nothing where too few steps tell."""
    column, unit = spent.seconds, spent.unit
    steady = len(column) - spent.warm_up_rows
    count = int(np.count_nonzero(spent.events >= spent.warm_up_rows))
    if steady < SURE_STEPS or count < SURE_STEPS or unit <= 0:
        return []
    trend = _fit(column / unit, spent.warm_up_rows, steady / count)
    rises = [
        AccountRise(rise.pattern, np.multiply(column, share, out=share), numbers)
        for rise, share, numbers in find_losses(trend, unit, _OFFSET)
        if not rise.at_start
    ]
    return [_without_end(each, column) for each in rises if each.lost.any()]


def _without_end(rise: AccountRise, column: Float) -> AccountRise:
    """A rise that is over in its first quarter is a jump: nothing keeps growing."""
    rows = np.flatnonzero(rise.lost)
    later = column[rows[0] : rows[-1] + 1][round(MATTERS * (rows[-1] - rows[0])) :]
    is_over = rise.pattern == "drift" and not grows(later, np.mean)
    return rise._replace(pattern="level_shift") if is_over else rise


def _fit(relative: Float, start: int, rows_per_event: float) -> Trend:
    narrowest = max(8, round(_EVENTS_IN_BUCKET * rows_per_event))
    means = bucket(relative, start, by="mean", most=_MOST_BUCKETS, narrowest=narrowest)
    logs = type(means)(np.log(means.values + _OFFSET), means.width, means.start)
    relative += _OFFSET  # in place: of ten million steps it is 80 MB
    return fit_trend(logs, np.log(relative, out=relative), SIGNIFICANCE_OF_SHORT)
