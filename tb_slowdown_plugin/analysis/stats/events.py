"""What comes now and then: whether it takes longer each time, and what epochs cost.

Of epochs the first pass over the data counts, and the boundary between two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.stats.time_trend import trend_of
from tb_slowdown_plugin.catalog.parameters.shared import (
    MAJORITY,
    MOSTLY,
    NEGLIGIBLE,
    NOTABLE_GROWTH,
    OUTLIER,
    SEVERAL,
    STANDS_OUT,
)
from tb_slowdown_plugin.catalog.parameters.stats import EPOCH_STALL, TREND_SIGNIFICANCE
from tb_slowdown_plugin.records.types import Float, Int

MOST_EVENTS: Final = 1000
"""With more, the series is dense enough for the trend of `trend.py`."""


def find_events(column: Float) -> Int:
    """Rows in which an account really takes time.

    A callback costs microseconds in every step and seconds when it saves; only
    the rows above a twentieth of its typical second are events.

    Args:
      column: (S,) seconds.

    Example:
      >>> find_events(np.array([1e-6, 0.2, 1e-6, 1e-6, 0.3])).tolist()
      [1, 4]
    """
    total = float(column.sum())
    if total <= 0:
        return np.empty(0, np.int64)
    # Not `@`: its threads spin for longer than they compute.
    typical = float(np.einsum("i,i->", column, column)) / total
    return np.flatnonzero(column > NEGLIGIBLE * typical)


def is_sparse(column: Float) -> bool:
    """Whether an account takes time now and then: in fewer than half of the steps."""
    return len(find_events(column)) < MAJORITY * len(column)


@dataclass(frozen=True, slots=True)
class EventGrowth:
    """Events that take longer and longer."""

    lost_per_step: Float
    """(S,) seconds of each event above what it would have taken at first.

    In proportion: events of one account may be of several sizes, such as the first batch of each
    epoch among all others, and a long one is none that has grown."""
    numbers: dict[str, float]


def find_growth(column: Float, rows: Int) -> EventGrowth | None:
    """Tells whether the events of a sparse account take longer and longer.

    Args:
      column: (S,) seconds of the account.
      rows: Those of its events, from `find_events`.

    Returns:
      None if they don't, or if the account is in every other step or more.
    """
    count = len(rows)
    if not 2 <= count <= MOST_EVENTS or count >= MAJORITY * len(column):
        return None
    values = column[rows]
    trend = trend_of(values)
    start = max(trend.start, float(values[: max(3, count // 10)].min()), 1e-12)
    growth = (trend.end - trend.start) / start
    if trend.z < TREND_SIGNIFICANCE or growth < NOTABLE_GROWTH:
        return None
    line = np.maximum(np.linspace(trend.start, trend.end, count), start)
    lost = np.zeros(len(column))
    lost[rows] = values * (1 - start / line)
    numbers = {
        "before_seconds": start,
        "after_seconds": start + trend.end - trend.start,
        "growth_fraction": growth,
        "events": float(count),
        "z": trend.z,
    }
    return EventGrowth(lost, numbers)


def excess_of_first_pass(column: Float, epochs: Int) -> Float:
    """What the first pass over the data took longer than the later ones.

    Args:
      column: (S,) seconds of an account.
      epochs: Rows at which epochs begin.

    Returns:
      (S,) what the first pass took above the slowest later one, spread over it in proportion.
    """
    early = np.zeros(len(column))
    passes = np.split(column, epochs[epochs > 0])
    later = [float(part.mean()) for part in passes[1:] if len(part) >= 2]
    first = float(passes[0].mean()) if len(passes[0]) >= 2 else 0.0
    # The last pass may be incomplete, and then holds only an expensive beginning.
    usual = float(np.median(later)) if later else 0.0
    if later and first > (1 + NOTABLE_GROWTH) * usual:
        early[: len(passes[0])] = column[: len(passes[0])] * (1 - usual / first)
    return early


def is_at_boundaries(column: Float, epochs: Int) -> bool:
    """Whether most of an account's seconds stand in steps beside epoch boundaries."""
    if len(epochs) < SEVERAL:
        return False
    beside = np.unique(np.concatenate([epochs - 1, epochs, epochs + 1]))
    beside = beside[(beside >= 0) & (beside < len(column))]
    share = len(beside) / len(column)
    held = float(column[beside].sum()) / max(float(column.sum()), 1e-12)
    return held >= max(MOSTLY, 3 * share)


def find_stalls(residual: Float, sigma: float, epochs: Int, start: int) -> list[Int]:
    """Rows at, before or after epoch boundaries that are slow in most epochs.

    Args:
      residual: (S,) relative excess of each step over its level; 0 before `start`.
      sigma: Its robust standard deviation.
      epochs: Rows at which epochs begin.
      start: First row after warm-up.

    Returns:
      One array for each of the three places that stalls, rows in the warm-up included.
    """
    found = []
    for offset in (-1, 0, 1):
        rows = epochs + offset
        rows = rows[(rows >= 0) & (rows < len(residual))]
        excess = residual[rows[rows >= start]]
        if len(excess) < SEVERAL - 1:
            continue
        slow = np.median(excess) >= max(EPOCH_STALL, OUTLIER * sigma)
        if slow and np.mean(excess > STANDS_OUT * sigma) >= MOSTLY:
            found.append(rows)
    return found
