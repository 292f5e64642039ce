"""Pauses of a plan in step times alone: an evaluation, or a save, again and again.

Nobody measured them, so a pause is told by its shape: steps that take longer than those around
them, each time for about as long, at even distances in steps or in time.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.stats.noise import deviation
from tb_slowdown_plugin.analysis.stats.periods import find_repeats
from tb_slowdown_plugin.catalog.parameters.ledger import (
    GROWTH_FLOOR,
)
from tb_slowdown_plugin.records.types import Float, Int

_AROUND_ROWS: Final = 25
"""Rows whose median is the step without a pause. Chosen by hand."""
_MIN_EXCESS: Final = 0.1
"""Relative to that median."""
_SIGMAS: Final = 6.0
_MIN_PAUSES: Final = 4
_EVEN: Final = 0.1
_EVEN_SHARE: Final = 0.8
"""Share of the distances between few pauses that must lie so close to their median."""
_MIN_SIZE: Final = 0.4
_MAX_SIZE: Final = 2.0
"""Over the usual pause. What is longer is a pause and something else."""
_CHUNK_ROWS: Final = 1 << 16


def find_pauses(step_seconds: Float) -> Float:
    """Seconds of each step that lie in a pause that comes back.

    Args:
      step_seconds: (S,)

    Returns:
      (S,) seconds; all 0 where no pauses come back.

    Example:
      >>> import numpy as np
      >>> seconds = np.full(400, 1.0)
      >>> seconds[20::40] += 5.0
      >>> pauses = find_pauses(seconds)
      >>> int(np.count_nonzero(pauses)), float(pauses.max())
      (10, 5.0)
    """
    pauses = np.zeros(len(step_seconds))
    around = running_median(step_seconds, _AROUND_ROWS)
    if len(step_seconds) < _AROUND_ROWS or not np.all(around > 0):
        return pauses
    excess = step_seconds - around
    relative = excess / around
    sigma = max(deviation(relative), 1e-3)
    long = np.flatnonzero(relative > max(_MIN_EXCESS, _SIGMAS * sigma))
    repeats = find_repeats(relative, sigma, step_seconds)
    if repeats:
        rows = np.unique(np.concatenate([repeat.rows for repeat in repeats]))
    elif _is_even(long):
        rows = long
    else:
        return pauses
    rows = rows[relative[rows] > _MIN_EXCESS]
    if len(rows) < _MIN_PAUSES:
        return pauses
    usual = float(np.median(excess[rows]))
    found = long[excess[long] >= _MIN_SIZE * usual]
    pauses[found] = np.minimum(excess[found], _MAX_SIZE * usual)
    return pauses if pauses.sum() >= GROWTH_FLOOR * step_seconds.sum() else np.zeros(len(pauses))


def running_median(values: Float, width: int) -> Float:
    """The median of `width` values around each; at the ends the series is mirrored.

    Args:
      values: (S,)
      width: Made odd, and not longer than the series.
    """
    half = max(0, min(width // 2, (len(values) - 1) // 2))
    if not half:
        return values
    padded = np.pad(values, half, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    chunks = range(0, len(values), _CHUNK_ROWS)
    return np.concatenate([np.median(windows[at : at + _CHUNK_ROWS], axis=1) for at in chunks])


def _is_even(rows: Int) -> bool:
    if len(rows) < _MIN_PAUSES:
        return False
    gaps = np.diff(rows)
    return bool(np.mean(np.abs(gaps / np.median(gaps) - 1) <= _EVEN) >= _EVEN_SHARE)
