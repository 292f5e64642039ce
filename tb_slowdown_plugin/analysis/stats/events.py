"""Whether something that happens now and then takes longer each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.records.types import Float, Int

FEWEST_EVENTS: Final = 10
MOST_EVENTS: Final = 1000
"""With more, the series is dense enough for the trend of `trend.py`."""
_LEAST_GROWTH: Final = 0.2
_SIGNIFICANCE: Final = 5.0
"""Standard errors of Kendall's test. Of 10 events all in order it gives 4.0, so that
few events must also grow much to be told (`_GROWTH_OF_FEW`)."""
_SIGNIFICANCE_OF_FEW: Final = 3.0
_GROWTH_OF_FEW: Final = 0.5
_SPARSE: Final = 0.5
_NEGLIGIBLE: Final = 0.05


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
    typical = float(column @ column) / total
    return np.flatnonzero(column > _NEGLIGIBLE * typical)


def is_sparse(column: Float) -> bool:
    """Whether an account takes time now and then: in fewer than half of the steps."""
    return len(find_events(column)) < _SPARSE * len(column)


@dataclass(frozen=True, slots=True)
class Growth:
    """Events that take longer and longer."""

    lost_per_step: Float
    """(S,) seconds of each event above what it took at first."""
    numbers: dict[str, float]


def find_growth(column: Float, rows: Int) -> Growth | None:
    """Tells whether the events of a sparse account take longer and longer.

    The test is Mann and Kendall's, the line is Theil and Sen's, so that one odd
    event decides nothing.

    Args:
      column: (S,) seconds of the account.
      rows: Those of its events, from `find_events`.

    Returns:
      None if they don't, or if the account is in every other step or more.
    """
    count = len(rows)
    if not FEWEST_EVENTS <= count <= MOST_EVENTS or count >= _SPARSE * len(column):
        return None
    values = column[rows]
    first, second = np.triu_indices(count, k=1)
    differences = values[second] - values[first]
    error = np.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    z = float(np.sign(differences).sum() / error)
    slope = float(np.median(differences / (second - first)))
    start = float(np.median(values - slope * np.arange(count)))
    start = max(start, float(values[: max(3, count // 10)].min()), 1e-12)
    growth = slope * (count - 1) / start
    sure = z >= _SIGNIFICANCE and growth >= _LEAST_GROWTH
    if not sure and not (z >= _SIGNIFICANCE_OF_FEW and growth >= _GROWTH_OF_FEW):
        return None
    lost = np.zeros(len(column))
    lost[rows] = np.clip(values - start, 0.0, None)
    numbers = {
        "before_seconds": start,
        "after_seconds": start + slope * (count - 1),
        "growth_fraction": growth,
        "events": float(count),
        "z": z,
    }
    return Growth(lost, numbers)
