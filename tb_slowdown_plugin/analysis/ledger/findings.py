"""How a finding is made of the seconds that it lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.stats.rises import Rise
from tb_slowdown_plugin.analysis.stats.trend import Trend
from tb_slowdown_plugin.analysis.types import Confidence, Finding, Pattern
from tb_slowdown_plugin.catalog.parameters.ledger import FLAT_FLOOR, GROWTH_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import LARGER, MATTERS
from tb_slowdown_plugin.records.types import Float

AT_START: Final = "at_start"
"""Number of a finding: the run began so, and got faster."""


def make_finding(
    source: str,
    pattern: Pattern,
    lost_per_step: Float,
    confidence: Confidence,
    numbers: dict[str, float] | None = None,
) -> Finding:
    """A finding whose rows and seconds are those of `lost_per_step` (S,)."""
    hit = lost_per_step != 0  # the rows themselves would take eight times the memory
    span = (int(hit.argmax()), len(hit) - 1 - int(hit[::-1].argmax())) if hit.any() else (0, 0)
    lost = float(lost_per_step.sum())
    return Finding(source, pattern, span, lost, lost_per_step, confidence, numbers or {})


class Loss(NamedTuple):
    """What a rise of a trend took."""

    rise: Rise
    share: Float
    """(S,) of what each step really took."""
    numbers: dict[str, float]
    """Of the rise, for evidence."""


def find_losses(trend: Trend, unit_seconds: float, offset: float = 0.0) -> Iterator[Loss]:
    """What each rise of a trend took, unless it is only a slightly slower first part.

    Args:
      trend: The fit, in units of `unit_seconds`, with `offset` added to the series.
      unit_seconds: Of the trend.
      offset: In the unit of the trend.
    """
    for rise in trend.rises:
        if not rise.at_start or rise.after >= (1 + MATTERS) * rise.before:
            share = _share_of_steps(trend, rise, offset)
            yield Loss(rise, share, _describe(rise, unit_seconds, offset))


def floor_of(rise: Rise) -> float:
    """Share of the wall from which a rise is named: growth early, a slow first part later.

    As late is growth by so little as the same computing takes more on a warmer processor, or with
    more memory in use (an eager loop that keeps nothing: 10% in 700 steps).
    """
    is_slight = rise.pattern == "drift" and rise.after < LARGER * rise.before
    return FLAT_FLOOR if rise.at_start or is_slight else GROWTH_FLOOR


def _share_of_steps(trend: Trend, rise: Rise, offset: float) -> Float:
    level = np.maximum(trend.level - offset, 1e-12)
    share = np.append(0.0, np.clip(rise.height / level, 0.0, 1.0))
    spread = np.repeat(share, np.diff(trend.edges, prepend=0))
    return spread if trend.members is None else np.where(trend.members, spread, 0.0)


def _describe(rise: Rise, unit_seconds: float, offset: float) -> dict[str, float]:
    before = max(rise.before - offset, 0.0)
    after = rise.after - offset
    at_start = {AT_START: 1.0} if rise.at_start else {}
    return at_start | {
        "before_seconds": before * unit_seconds,
        "after_seconds": after * unit_seconds,
        "growth_fraction": after / before - 1 if before > 0 else float("inf"),
        "z": rise.z,
    }
