"""How much two groups of runs of one program differ by chance alone.

With three repeats a side the spread between runs is known so badly that a t-test, which
asks nothing but the repeats, finds a step that is 20% longer in 95 of 100 comparisons
only as long as runs of one program differ by less than 2.5%. A test that was told the
spread would manage it up to 5.0%. Hence both: what the repeats show counts where they
agree well, and else the spread is taken to be 5%, or what the repeats show if that is
more. What comes of it is in benchmarks/comparison.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from tb_slowdown_plugin.catalog.parameters.shared import ALIKE
from tb_slowdown_plugin.catalog.parameters.views import (
    ALARM_RATE,
    ALARM_RATE_OF_ASSUMPTION,
    ALARM_RATE_OF_REPEATS,
    USUAL_SPREAD,
)


@dataclass(frozen=True, slots=True)
class Chance:
    """What is known of the spread between runs, in the unit of the values compared."""

    seen: float
    """Pooled standard deviation between the repeats of each side; 0.0 without repeats."""
    degrees: int
    """Of freedom of `seen`: runs of both sides less two."""
    within: float
    """Standard error that the noise inside of a run gives its mean."""
    scale: float
    """What the assumed shares are shares of."""
    disturbed: float = 0.0
    """Share of the time that other programs took, or nobody can explain: believed to differ
    from run to run by as much as it is. Its standard deviation was 0.3 to 1.5 times its mean in
    six groups of eight runs beside busy neighbours (benchmarks/comparison)."""

    def margin(self, base: int, other: int) -> float:
        """Half the interval around the difference of the means of so many runs a side.

        >>> chance = Chance(seen=0.01, degrees=4, within=0.0, scale=1.0)
        >>> round(chance.margin(3, 3), 3)
        0.07
        >>> round(Chance(seen=0.0, degrees=0, within=0.0, scale=1.0).margin(1, 1), 3)
        0.216
        """
        usual = math.hypot(USUAL_SPREAD, self.disturbed)
        wide = max(self._with_noise(usual), self.seen)
        reach = _normal_quantile(1 - ALARM_RATE * ALARM_RATE_OF_ASSUMPTION / 2) * wide
        if self.degrees > 0:
            least = _normal_quantile(1 - ALARM_RATE / 2) * self._with_noise(ALIKE)
            repeats = (
                t_quantile(1 - ALARM_RATE * ALARM_RATE_OF_REPEATS / 2, self.degrees) * self.seen
            )
            reach = min(reach, max(repeats, least))
        return reach * math.sqrt(1 / base + 1 / other)

    def _with_noise(self, spread: float) -> float:
        return math.hypot(spread * self.scale, self.within)


def chance_between(
    base: Sequence[float],
    other: Sequence[float],
    *,
    within: float,
    scale: float,
    disturbed: float = 0.0,
) -> Chance:
    """The spread that the repeats of two sides show.

    Args:
      base: Means of the runs of one side, at least one.
      other: Of the other side, at least one.
      within: Standard error that the noise inside of a run gives its mean.
      scale: What the assumed spreads are shares of.
      disturbed: Share of the time that is not the program's own.
    """
    squares = math.fsum(
        (value - math.fsum(side) / len(side)) ** 2 for side in (base, other) for value in side
    )
    degrees = len(base) + len(other) - 2
    return Chance(
        math.sqrt(squares / degrees) if degrees else 0.0, degrees, within, scale, disturbed
    )


@lru_cache(maxsize=256)
def t_quantile(probability: float, degrees: int) -> float:
    """Quantile of Student's t above the median, for a whole number of degrees of freedom.

    >>> round(t_quantile(0.9975, 8), 3)
    3.833
    >>> round(t_quantile(0.9995, 4), 3)
    8.61
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        if (1 + _inside(angle, degrees)) / 2 < probability:
            low = angle
        else:
            high = angle
    return math.tan(low) * math.sqrt(degrees)


def _inside(angle: float, degrees: int) -> float:
    """P(-t < T < t) at t = tan(angle) * sqrt(degrees): Abramowitz and Stegun 26.7.3-4."""
    cosine, odd = math.cos(angle), degrees % 2
    total, term = 0.0, cosine if odd else 1.0
    for index in range(1 + odd, degrees, 2):
        total += term
        term *= cosine * cosine * index / (index + 1)
    inside = math.sin(angle) * total
    return 2 / math.pi * (angle + inside) if odd else inside


@lru_cache(maxsize=8)
def _normal_quantile(probability: float) -> float:
    return NormalDist().inv_cdf(probability)
