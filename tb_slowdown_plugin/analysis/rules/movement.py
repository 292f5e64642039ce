"""Whether a signal grows with the steps, and how fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.rules.case import Case
from tb_slowdown_plugin.records.types import Float

FEWEST_SAMPLES: Final = 5
_STEADY: Final = 0.6
"""Share of the intervals in which a growing count must rise."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How a signal rises over a stretch of the run."""

    first: float
    last: float
    first_row: int
    last_row: int
    rising: float
    """Share of the intervals between samples in which it rises."""

    @property
    def per_step(self) -> float:
        """Units a step."""
        return (self.last - self.first) / max(1, self.last_row - self.first_row)

    @property
    def steady(self) -> bool:
        """Whether it rises in most intervals."""
        return self.last > self.first and self.rising >= _STEADY


def growth_of(case: Case, signal: str, rows: tuple[int, int]) -> Growth | None:
    """How a signal rises in rows `rows` (inclusive); None with too few samples there."""
    where, values = case.signal(signal)
    inside = (where >= rows[0]) & (where <= rows[1] + 1)
    where, values = where[inside], values[inside]
    if len(values) < FEWEST_SAMPLES:
        return None
    # Samples between the same two steps can't rise with the steps.
    distinct = np.append(np.diff(where) > 0, True)
    where, values = where[distinct], values[distinct]
    if len(values) < FEWEST_SAMPLES:
        return None
    return Growth(
        float(values[0]),
        float(values[-1]),
        int(where[0]),
        int(where[-1]),
        float(np.mean(np.diff(values) > 0)),
    )


def ends(series: Float, rows: tuple[int, int]) -> tuple[float, float]:
    """Typical value in the first and in the last tenth of rows (inclusive)."""
    inside = series[rows[0] : rows[1] + 1]
    tenth = max(1, len(inside) // 10)
    return float(np.median(inside[:tenth])), float(np.median(inside[-tenth:]))
