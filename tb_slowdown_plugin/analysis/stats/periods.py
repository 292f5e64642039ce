"""What comes back: work every so many steps, or every so many seconds.

A fixed period is found by folding the residual on candidate periods, which the
autocorrelation and the gaps between spikes propose. A period that is only
about regular (garbage collection, a timer) is found by its gaps: those of
random events vary far more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.stats.buckets import (
    sum_between,
)
from tb_slowdown_plugin.catalog.parameters.shared import (
    FAR_BEYOND,
    MAJORITY,
    MATTERS,
    MOSTLY,
    OUTLIER,
    SERIES,
)
from tb_slowdown_plugin.catalog.parameters.stats import (
    EXCESS,
    GAPS_BY_CHANCE,
    NEAR_A_TURN,
    REPEAT_SIGNIFICANCE,
    SIGNIFICANCE,
)
from tb_slowdown_plugin.records.types import Float, Int

LONGEST_LOOK: Final = 1 << 18
"""Rows at the end of the run in which a period is looked for."""
_CANDIDATES: Final = 24
_MOST_REPEATS: Final = 3


@dataclass(frozen=True, slots=True)
class Repeat:
    """Work that comes back."""

    period: float
    """Rows between two, or seconds if `by_clock`."""
    groups: tuple[Int, ...]
    """Rows where it comes: in a group they are alike, such as those after a pause of each turn."""
    z: float
    by_clock: bool = False

    @property
    def rows(self) -> Int:
        """All of them, ascending."""
        return np.sort(np.concatenate(self.groups))


def find_repeats(residual: Float, sigma: float, seconds: Float) -> list[Repeat]:
    """Finds what comes back in the residual of a run.

    Args:
      residual: (S,) relative excess of each step over its level; 0 in rows that
        are explained already.
      sigma: Its robust standard deviation.
      seconds: (S,) step times, for what comes by the clock.
    """
    count = len(residual)
    start = max(0, count - LONGEST_LOOK)
    look = np.clip(residual[start:], -3 * sigma, 10 * sigma)
    repeats: list[Repeat] = []
    for _ in range(_MOST_REPEATS):
        best = _find_best_fold(look, sigma, residual[start:])
        if best is None:
            break
        period, phase, z = best
        groups: tuple[Int, ...] = (np.arange((start + phase) % period, count, period),)
        same = [each for each in repeats if each.period == period]
        if same:
            repeats.remove(same[0])
            groups, z = (*same[0].groups, *groups), same[0].z
        repeats.append(Repeat(period, groups, z))
        look[phase::period] = 0.0
    if not repeats:
        regular = _find_regular_gaps(residual, sigma, seconds)
        if regular is not None:
            repeats.append(regular)
    return repeats


def _find_best_fold(look: Float, sigma: float, residual: Float) -> tuple[int, int, float] | None:
    best: tuple[int, int, float] | None = None
    scale = max(float(look.std()), 1e-9)
    for period in _propose(look, sigma):
        folded = _fold(look, period, sigma, scale)
        if folded is not None and (best is None or folded[1] > best[2]):
            best = (period, folded[0], folded[1])
    if best is None:
        return None
    period, phase, z = best
    height = float(np.mean(residual[phase::period]))
    for divisor in range(2, period // 2 + 1):
        if period % divisor:
            continue
        folded = _fold(look, divisor, sigma, scale)
        if folded is None:
            continue
        if float(np.mean(residual[folded[0] :: divisor])) >= MOSTLY * height:
            return divisor, folded[0], folded[1]
    return period, phase, z


def _propose(look: Float, sigma: float) -> set[int]:
    count = len(look)
    longest = count // SERIES
    size = 1 << int(np.ceil(np.log2(2 * count)))
    spectrum = np.fft.rfft(look - look.mean(), size)
    correlation = np.fft.irfft(np.abs(spectrum) ** 2, size)[: longest + 1]
    proposed: set[int] = set()
    if len(correlation) > 4:
        inner = correlation[2:-1]
        peaks = 2 + np.flatnonzero((inner >= correlation[1:-2]) & (inner > correlation[3:]))
        proposed.update(peaks[np.argsort(correlation[peaks])[-_CANDIDATES:]].tolist())
    spikes = np.flatnonzero(look > OUTLIER * sigma)
    for order in (1, 2):
        gaps = spikes[order:] - spikes[:-order]
        values, counts = np.unique(gaps[(gaps > 1) & (gaps <= longest)], return_counts=True)
        proposed.update(values[np.argsort(counts)[-6:]].tolist())
    return {period for period in proposed if period >= 2}


def _fold(look: Float, period: int, sigma: float, scale: float) -> tuple[int, float] | None:
    """(phase, z) of the one row of each turn that is slower, None if there is no such row."""
    turns = len(look) // period
    if turns < SERIES:
        return None
    table = look[: turns * period].reshape(turns, period)
    means = table.mean(axis=0)
    phase = int(np.argmax(means))
    usual = float(np.median(means)) if period > 2 else float(means.min())
    height = float(means[phase]) - usual
    z = height * np.sqrt(turns) / scale
    if z < REPEAT_SIGNIFICANCE or height < EXCESS:
        return None
    column = table[:, phase]
    middle = float(np.median(column))
    if middle < max(EXCESS, FAR_BEYOND * sigma):
        return None
    if np.mean(column > max(FAR_BEYOND * sigma, MAJORITY * middle)) < MOSTLY:
        return None
    return phase, float(z)


def _find_regular_gaps(residual: Float, sigma: float, seconds: Float) -> Repeat | None:
    for height in (6, 12, 25):
        rows = np.flatnonzero(residual > max(MATTERS, height * sigma))
        # A stall that lasts for several steps is one.
        rows = rows[np.diff(rows, prepend=-2) > 1]
        if len(rows) < 12:
            return None
        by_rows = _regularity(np.diff(rows).astype(np.float64))
        by_clock = _regularity(sum_between(seconds, rows))
        z, period = max(by_rows, by_clock)
        if z > SIGNIFICANCE and period > 0:
            return Repeat(period, (rows,), z, by_clock=by_clock[0] > by_rows[0] + 1)
    return None


def _regularity(gaps: Float) -> tuple[float, float]:
    """(z, median gap); a large z where the gaps are far more alike than random ones."""
    usual = float(np.median(gaps))
    if usual <= 0:
        return 0.0, 0.0
    near = float(np.mean(np.abs(gaps / usual - 1) < NEAR_A_TURN))
    error = np.sqrt(GAPS_BY_CHANCE * (1 - GAPS_BY_CHANCE) / len(gaps))
    return (float((near - GAPS_BY_CHANCE) / error), usual) if near > MAJORITY else (0.0, usual)
