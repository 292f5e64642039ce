"""Whether a series grows: one test for the whole analysis.

Mann and Kendall's test and Theil and Sen's line, so that one odd value decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.catalog.parameters.stats import SMALLEST_CHANGE, TREND_SIGNIFICANCE
from tb_slowdown_plugin.records.types import Float, Int

_MOST_PAIRED: Final = 300
"""Values of which each two are compared: it takes the square of them."""
_PARTS: Final = 24
"""Of a longer series the medians of so many parts are compared; 7 that only rise are certain.
Samples of memory amid temporary tensors show its growth in 24 parts (z = 3.8), not in 16 (2.9)."""


@dataclass(frozen=True, slots=True)
class TimeTrend:
    """How a series changes from its first value to its last."""

    z: float
    """Standard errors by which rising pairs outnumber falling ones."""
    start: float
    """Of the line, in units of the series."""
    end: float

    @property
    def grows(self) -> bool:
        """Whether it certainly rises, by as much as is worth telling."""
        rise = self.end - self.start
        return self.z >= TREND_SIGNIFICANCE and rise >= SMALLEST_CHANGE * abs(self.start)


def grows(series: Sequence[float] | Float, typical: Callable[[Float], float] = np.median) -> bool:
    """Whether a series grows with its index; values that are NaN are left out.

    Args:
      series: (N,) values, in the order in which they came.
      typical: what stands for a part of it; the mean where most values are 0.

    Example:
      >>> grows([1.0, 1.1, 1.2, 1.4, 1.3, 1.5, 1.6, 1.8]), grows([1.0, 2.0] * 8)
      (True, False)
    """
    values = np.asarray(series, np.float64)
    values = values[~np.isnan(values)]
    return len(values) > 1 and _trend_of_parts(values, typical).grows


def goes_on_growing(series: Float) -> bool:
    """Whether each third of a series certainly rises; one that wanders rises now and then.

    Args:
      series: (N,) values without NaN; fewer than 21 tell nothing.
    """
    thirds = [part for part in np.array_split(series, 3) if len(part) > 1]
    return len(thirds) == 3 and all(
        _trend_of_parts(part, np.median).z >= TREND_SIGNIFICANCE for part in thirds
    )


def _trend_of_parts(values: Float, typical: Callable[[Float], float]) -> TimeTrend:
    parts = np.array_split(values, min(_PARTS, len(values)))
    return trend_of(np.array([typical(part) for part in parts]))


def trend_of(values: Float) -> TimeTrend:
    """The trend of a short series: it takes time and memory with the square of its length.

    Args:
      values: (N,) at least two.

    Example:
      >>> trend_of(np.arange(10.0)).z.__round__(2), trend_of(np.ones(10)).z
      (4.02, 0.0)
    """
    count = len(values)
    first, second = np.triu_indices(count, k=1)
    differences = values[second] - values[first]
    ties = np.unique(values, return_counts=True)[1]
    variance = _variance(count) - float(_variance(ties).sum())
    z = float(np.sign(differences).sum()) / np.sqrt(variance) if variance > 0 else 0.0
    slope = float(np.median(differences / (second - first)))
    start = float(np.median(values - slope * np.arange(count)))
    return TimeTrend(float(z), start, start + slope * (count - 1))


def median_slope(x: Float, y: Float) -> float:
    """How much `y` rises with `x`: the median of the slopes of all pairs that are apart in `x`.

    Args:
      x: (N,) not all alike. Of very many, 300 are taken.
      y: (N,)

    Example:
      >>> x = np.arange(20.0)
      >>> y = 3 * x
      >>> y[7] = 500.0
      >>> median_slope(x, y)
      3.0
    """
    chosen = np.linspace(0, len(x) - 1, min(len(x), _MOST_PAIRED)).astype(np.int64)
    first, second = np.triu_indices(len(chosen), k=1)
    run = x[chosen][second] - x[chosen][first]
    rise = y[chosen][second] - y[chosen][first]
    apart = np.abs(run) > 0.1 * x.std()
    return float(np.median(rise[apart] / run[apart]))


def _variance(count: Int | int) -> Float:
    return np.asarray(count * (count - 1) * (2 * count + 5) / 18)
