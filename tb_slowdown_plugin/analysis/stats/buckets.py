"""Long series made short: at most about a thousand buckets of equally many rows.

`Samples` are a signal as it is sampled: a value now and then, not one for each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tb_slowdown_plugin.records.types import Float, Int

MOST_BUCKETS: Final = 1024

_NARROWEST: Final = 8
"""Rows in a bucket where the run is long enough: the median of 8 ignores 3 outliers."""

_FEWEST_BUCKETS: Final = 24

_AT_ONCE: Final = 16

_DRAWN_IN: Final = 0.995
"""Share of the rows beside their bucket's value beyond which a row is drawn in."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Where a signal was measured, and what it was there. `R` is the number of samples.

    Example:
      >>> Samples(np.array([2, 5]), np.array([0.5, 0.75])).at(np.array([0, 5])).tolist()
      [nan, 0.75]
    """

    rows: Int
    """(R,) rows at whose end the samples were taken, ascending and each once."""
    values: Float
    """(R,) without NaN."""

    def at(self, rows: Int) -> Float:
        """(N,) the values in rows (N,), none of which comes twice; NaN where not sampled."""
        found = np.full(len(rows), np.nan)
        _, where, mine = np.intersect1d(rows, self.rows, assume_unique=True, return_indices=True)
        found[where] = self.values[mine]
        return found

    def spread(self, count: int) -> Float:
        """(count,) one value for each row; NaN where not sampled."""
        return self.at(np.arange(count))


Signals: TypeAlias = Mapping[str, ArrayLike | Samples]
"""Name -> (S,) values, NaN where not sampled, or the samples alone."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """`values[k]` stands for rows `start + k * width` to `start + (k + 1) * width - 1`.

    Rows that do not fill a last bucket belong to none.
    """

    values: Float
    width: int
    start: int

    def row(self, bucket: int) -> int:
        """First row of a bucket."""
        return self.start + bucket * self.width

    def blocks(self, series: Float) -> Float:
        """(B, width) the rows of each bucket, of the series (S,) that was reduced to them."""
        count = len(self.values)
        return series[self.start : self.row(count)].reshape(count, self.width)

    def spread(self, values: Float, rows: int) -> Float:
        """A value for each bucket -> a value for each of `rows` rows from `start` on."""
        per_row = np.repeat(values, self.width)[:rows]
        return np.pad(per_row, (0, rows - len(per_row)), mode="edge")


def bucket(
    series: Float,
    start: int = 0,
    by: Literal["median", "mean"] = "median",
    most: int = MOST_BUCKETS,
    narrowest: int = _NARROWEST,
) -> Buckets:
    """Reduces `series[start:]` to buckets.

    Args:
      series: (S,) values.
      start: First row to use.
      by: What stands for a bucket. The median forgets outliers; the mean is for
        series that are mostly zero.
      most: At most so many buckets.
      narrowest: At least so many rows in each, as long as 24 buckets remain.

    Example:
      >>> bucket(np.arange(240.0)).width
      8
    """
    rows = len(series) - start
    width = max(narrowest, -(-rows // most))
    if rows // width < _FEWEST_BUCKETS:
        width = max(1, rows // _FEWEST_BUCKETS)
    count = rows // width
    buckets = Buckets(np.empty(count), width, start)
    blocks = buckets.blocks(series)
    for some in in_turn(count):
        of = blocks[some]
        buckets.values[some] = np.median(of, axis=1) if by == "median" else of.mean(axis=1)
    return buckets


def bounded_means(buckets: Buckets, rows: Float) -> Float:
    """Means of the buckets, their outliers drawn in."""
    values, width = buckets.values, buckets.width
    blocks = buckets.blocks(rows)
    looked = np.arange(0, blocks.size, max(1, blocks.size // 100_000))
    sample = np.abs(blocks.ravel()[looked] - values[looked // width])
    bound = float(np.quantile(sample, _DRAWN_IN)) if sample.size else 0.0
    means = np.empty(len(values))
    for some in in_turn(len(values)):  # in all of a long run at once, most time goes to memory
        distance = blocks[some] - values[some, None]
        means[some] = np.clip(distance, -bound, bound, out=distance).mean(axis=1)
    return values + means


def in_turn(count: int) -> Iterator[slice]:
    """`count` buckets in pieces that fit into the caches of a processor, in a long run, too."""
    return (slice(first, first + _AT_ONCE) for first in range(0, count, _AT_ONCE))


def sum_between(column: Float, sampled: Int) -> Float:
    """(R - 1,) sums of a column (S,) between each two samples.

    A sample in row r was taken when that step had ended.

    >>> sum_between(np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.array([0, 2, 3])).tolist()
    [6.0, 8.0]
    """
    return np.asarray(np.add.reduceat(column[: sampled[-1] + 1], sampled[:-1] + 1))


def quantile_by_steps(values: Float, steps: Int, share: float) -> float:
    """A quantile of (R,) stretches that count by their steps (R,).

    >>> quantile_by_steps(np.array([3.0, 1.0]), np.array([1, 9]), 0.5)
    1.0
    """
    order = np.argsort(values)
    below = np.cumsum(steps[order])
    return float(values[order][np.searchsorted(below, share * below[-1])])
