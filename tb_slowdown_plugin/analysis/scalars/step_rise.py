"""Since when steps of a run take longer, and how many times as long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.ledger.findings import AT_START
from tb_slowdown_plugin.analysis.scalars.pauses import running_median
from tb_slowdown_plugin.analysis.types import (
    CORE,
    Diagnosis,
    Finding,
    Pattern,
)
from tb_slowdown_plugin.catalog.parameters.shared import NEARLY_ALL, TELLING
from tb_slowdown_plugin.records.types import Float

_FURTHER: Final = 2
"""Times that growth, of which the row says how fast it grows."""
_SMOOTHED_SHARE: Final = 0.02
_MIN_SMOOTHED_ROWS: Final = 5


@dataclass(frozen=True, slots=True)
class StepRise:
    """Since when steps take longer."""

    rows: tuple[int, int]
    pattern: Pattern
    before_seconds: float
    after_seconds: float

    @property
    def ratio(self) -> float:
        """How many times as long."""
        return self.after_seconds / self.before_seconds if self.before_seconds > 0 else 1.0


def find_rise(core: Float, diagnosis: Diagnosis, late: tuple[Finding, ...]) -> StepRise | None:
    """The first rise that lasts to the end, or the costliest one; None if steps only scatter."""
    rises = [
        each
        for each in late
        if each.source == CORE
        and each.pattern in ("level_shift", "drift", "one_off")
        and not each.numbers.get(AT_START)
    ]
    if not rises:
        return None
    lasting = [each for each in rises if each.rows[1] >= len(core) - 1]
    main = max(lasting or rises, key=lambda each: each.lost_seconds)
    first = min(lasting or [main], key=lambda each: each.rows[0])
    row, last = first.rows[0], main.rows[1]
    healthy = diagnosis.baseline.seconds
    if first.pattern == "drift":
        row = _onset_of_growth(core, healthy, first.rows)
    earlier = core[min(diagnosis.warm_up_rows, row) : row]
    before = float(np.median(earlier)) if len(earlier) else healthy
    ends = core[max(row, last - max(1, (last - row) // 5)) : last + 1]
    after = ends if any(each.pattern == "drift" for each in lasting) else core[row : last + 1]
    return StepRise((row, last), main.pattern, before, float(np.median(after)))


def _onset_of_growth(core: Float, healthy: float, rows: tuple[int, int]) -> int:
    """The row from which growth stays above the healthy level: a curve begins too early."""
    if not healthy > 0:  # steps that the clock can't tell from none
        return rows[0]
    width = max(_MIN_SMOOTHED_ROWS, int(_SMOOTHED_SHARE * len(core)))
    smooth = running_median(core, width)[rows[0] : rows[1] + 1] / healthy
    first = _stays_above(smooth, 1 + TELLING)
    if first is None:
        return rows[0]
    later = _stays_above(smooth, 1 + _FURTHER * TELLING)
    if later is not None:
        # A straight line began as long before; what grows faster and faster, a part of it.
        first = max(0, first - (later - first) // 2)
    return rows[0] + first


def _stays_above(relative: Float, ratio: float) -> int | None:
    """The first row from which on nearly all are above a ratio."""
    above = relative > ratio
    left = np.arange(len(above), 0, -1)
    stays = np.flatnonzero(above & (np.cumsum(above[::-1])[::-1] >= NEARLY_ALL * left))
    return int(stays[0]) if len(stays) else None
