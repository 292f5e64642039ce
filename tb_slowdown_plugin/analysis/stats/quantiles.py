"""Medians and quantiles, those of numpy to the last digit, of short and of very long series.

Of a long one, a sample tells between which two values a quantile lies, and only what is between
them is looked at closely: of 10,000,000 values numpy copies 80 MB and takes five times as long. Of
a short one numpy's checks of its arguments take ten times as long as sorting it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.records.types import Float, Int

_MOST_SORTED: Final = 4096
"""Values up to which sorting is fastest."""
_MOST_PARTITIONED: Final = 50_000
"""Values up to which numpy is as fast."""
_SAMPLE: Final = 8192
_MARGIN: Final = 4.0
"""Standard errors of a rank in the sample; beyond them, numpy is asked after all."""
_AT_ONCE: Final = 1 << 15
"""Values that stay in a processor's cache while they are compared."""


def median(values: Float | Int) -> float:
    """What `np.median` gives.

    >>> median(np.array([3.0, 1.0, 2.0, 4.0]))
    2.5
    """
    count = len(values)
    low, high = (count - 1) // 2, count // 2
    found = _ranked(values, [low] if low == high else [low, high])
    if found is None:
        return float(np.median(values))
    return (found[0] + found[-1]) / 2


def quantiles(values: Float, shares: Sequence[float]) -> list[float]:
    """What `np.quantile` gives for several shares.

    >>> quantiles(np.arange(11.0), (0.1, 0.55))
    [1.0, 5.5]
    """
    last = len(values) - 1
    places = [share * last for share in shares]
    ranks = sorted({rank for at in places for rank in (int(at), min(int(at) + 1, last))})
    found = _ranked(values, ranks)
    if found is None:
        return [float(value) for value in np.quantile(values, list(shares))]
    of = dict(zip(ranks, found, strict=True))
    return [_between(of[int(at)], of[min(int(at) + 1, last)], at - int(at)) for at in places]


def _between(low: float, high: float, share: float) -> float:
    """As numpy does it, to the last digit: from the end that is nearer."""
    apart = high - low
    return low + apart * share if 2 * share < 1 else high - apart * (1 - share)


def _ranked(values: Float | Int, ranks: Sequence[int]) -> list[float] | None:
    """The values of ascending ranks; None where numpy is to be asked."""
    count = len(values)
    if not count or _MOST_SORTED < count <= _MOST_PARTITIONED:
        return None
    if math.isnan(float(values.sum())):  # infinite ones of both signs, too
        return None
    if count <= _MOST_SORTED:
        ordered = np.sort(values)
        return [float(ordered[rank]) for rank in ranks]
    sample: NDArray[Any] = np.sort(values[:: max(1, count // _SAMPLE) | 1])
    return _select(values, ranks, [_bounds(sample, rank / count) for rank in ranks])


def _bounds(sample: NDArray[Any], share: float) -> tuple[float, float]:
    """Between which values of a sorted sample the quantile of the whole lies, all but surely."""
    size = len(sample)
    margin = _MARGIN * math.sqrt(size * share * (1 - share)) + 2
    low, high = math.floor(share * size - margin), math.ceil(share * size + margin)
    return (
        float(sample[low]) if low >= 0 else -math.inf,
        float(sample[high]) if high < size else math.inf,
    )


def _select(
    values: Float | Int, ranks: Sequence[int], bounds: Sequence[tuple[float, float]]
) -> list[float] | None:
    """The values of ascending ranks, each of which should lie within its bounds; None if not."""
    stretches: list[tuple[float, float]] = []
    of_rank = []
    for low, high in bounds:
        if stretches and low <= stretches[-1][1]:
            stretches[-1] = stretches[-1][0], max(stretches[-1][1], high)
        else:
            stretches.append((low, high))
        of_rank.append(len(stretches) - 1)
    below, above = [0] * len(stretches), [0] * len(stretches)
    kept: list[list[Float | Int]] = [[] for _ in stretches]
    for first in range(0, len(values), _AT_ONCE):
        some = values[first : first + _AT_ONCE]
        for at, (low, high) in enumerate(stretches):
            under, over = some < low, some > high
            below[at] += int(np.count_nonzero(under))
            above[at] += int(np.count_nonzero(over))
            if low < high:
                kept[at].append(some[~(under | over)])
    ordered = [np.sort(np.concatenate(parts)) if parts else None for parts in kept]
    found = []
    for rank, at in zip(ranks, of_rank, strict=True):
        if not below[at] <= rank < len(values) - above[at]:
            return None
        inside = ordered[at]
        value = stretches[at][0] if inside is None else inside[rank - below[at]]
        found.append(float(value))
    return found
