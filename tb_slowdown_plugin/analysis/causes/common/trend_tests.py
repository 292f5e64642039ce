"""Whether a signal, or a column of the steps, grows with the run, and how fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.records.types import Float, Int

FEWEST_SAMPLES: Final = 5
_STEADY: Final = 0.6
"""Rank correlation with the row from which a signal is said to grow. A sample may fall into
the middle of a step, when temporary tensors are alive: a concatenation that grows from 0 to
131 MB showed 0.7."""
_CLOSER: Final = 1.15
"""One rise must explain so many times as much of the variance. In the middle of a run it is 1.33
times as much as a line does; of a history that grows, sampled amid temporary tensors, 0.98."""
_BLOCKS: Final = 8
_ALL_ALONG: Final = 0.9
"""Rank correlation of the blocks with their order."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How a signal rises over a stretch of the run."""

    first: float
    """Median of the first third of the samples; of a count, the first sample."""
    last: float
    first_row: int
    last_row: int
    rank: float
    """Rank correlation of the values with their rows, -1 to 1."""
    one_rise: bool
    """Whether one single rise follows the values closer than a line does."""

    @property
    def per_step(self) -> float:
        """Units a step."""
        return (self.last - self.first) / max(1, self.last_row - self.first_row)

    @property
    def steady(self) -> bool:
        """Whether it rises for the most part."""
        return self.last > self.first and self.rank >= _STEADY


def growth_of(
    case: Case, signal: str, rows: tuple[int, int], *, count: bool = False
) -> Growth | None:
    """How a signal rises in rows `rows` (inclusive); None with too few samples there.

    Args:
      case: the run.
      signal: name of the signal.
      rows: first and last row.
      count: it only counts up, so its first and last sample are exact; else the
        medians of the first and the last third stand for them.
    """
    where, values = case.signal(signal)
    inside = (where >= rows[0]) & (where <= rows[1] + 1)
    where, values = where[inside], values[inside]
    # Samples between the same two steps can't rise with the steps.
    distinct = np.append(np.diff(where) > 0, True) if len(where) else np.empty(0, bool)
    where, values = where[distinct], values[distinct]
    if len(values) < FEWEST_SAMPLES:
        return None
    part = 1 if count else max(1, len(values) // 3)
    return Growth(
        float(np.median(values[:part])),
        float(np.median(values[-part:])),
        int(np.median(where[:part])),
        int(np.median(where[-part:])),
        rank_with_time(values),
        is_one_rise(where, values),
    )


def bytes_per_second(case: Case, signal: str, first: int, last: int) -> float | None:
    """What a count of bytes rose by in rows, over their wall time; None where not sampled."""
    rows, counted = case.signal(signal)
    inside = (rows >= first) & (rows <= last + 1)
    rows, counted = rows[inside], counted[inside]
    if len(rows) < 2 or rows[-1] <= rows[0]:
        return None
    seconds = float(case.run.steps.period_seconds[rows[0] : rows[-1]].sum())
    return float(counted[-1] - counted[0]) / seconds if seconds > 0 else None


def is_one_rise(where: Int, values: Float) -> bool:
    """Whether one single rise follows a series clearly closer than a line, by least squares.

    Args:
      where: (N,) rows of the samples, ascending.
      values: (N,) the samples.

    Example:
      >>> import numpy as np
      >>> rows = np.arange(8)
      >>> is_one_rise(rows, np.repeat([1.0, 5.0], 4)), is_one_rise(rows, 1.0 + rows)
      (True, False)
      >>> is_one_rise(rows, np.repeat([1.0, 5.0, 9.0, 13.0], 2))
      False
    """
    if len(values) < 3:
        return True
    around = values - values.mean()
    rows = where - where.mean()
    by_line = np.dot(rows, around) ** 2 / np.dot(rows, rows)
    before = np.arange(1, len(values))
    by_rise = np.cumsum(around)[:-1] ** 2 * (1 / before + 1 / (len(values) - before))
    return bool(by_rise.max() >= _CLOSER * by_line)


def rank_with_time(values: Float) -> float:
    """Rank correlation of a series with its index: 1 if it only rises, 0 if it stays.

    Example:
      >>> import numpy as np
      >>> rank_with_time(np.array([1.0, 2.0, 5.0])), rank_with_time(np.ones(3))
      (1.0, 0.0)
    """
    if len(values) < 2 or values.min() == values.max():
        return 0.0
    # Equal values share the mean of their ranks.
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float(round(np.corrcoef(ranks, np.arange(len(values)))[0, 1], 6))


def ends(series: Float, rows: tuple[int, int]) -> tuple[float, float]:
    """Typical value in the first and in the last tenth of rows (inclusive); NaN where unknown."""
    inside = series[rows[0] : rows[1] + 1]
    tenth = max(1, len(inside) // 10)
    return median_of_known(inside[:tenth]), median_of_known(inside[-tenth:])


def median_of_known(values: Float) -> float:
    """The median without what was not measured; NaN where nothing was.

    Example:
      >>> import numpy as np
      >>> median_of_known(np.array([1.0, np.nan, 3.0])), median_of_known(np.array([np.nan]))
      (2.0, nan)
    """
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def mean_of_known(values: Float) -> float:
    """The mean without what was not measured; NaN where nothing was."""
    known = values[~np.isnan(values)]
    return float(np.mean(known)) if len(known) else float("nan")


def rises_all_along(series: Float, rows: tuple[int, int]) -> bool:
    """Whether the medians of eight equal parts of rows (inclusive) rise from part to part."""
    return _rise(series, rows, median_of_known)


def means_rise_all_along(series: Float, rows: tuple[int, int]) -> bool:
    """Likewise their means: of seconds that only some steps have, or that are read seldom."""
    return _rise(series, rows, mean_of_known)


def _rise(series: Float, rows: tuple[int, int], typical: Callable[[Float], float]) -> bool:
    parts = np.array_split(series[rows[0] : rows[1] + 1], _BLOCKS)
    if any(not len(part) for part in parts):
        return False
    values = np.array([typical(part) for part in parts])
    return not np.isnan(values).any() and rank_with_time(values) >= _ALL_ALONG
