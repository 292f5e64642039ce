"""Finds that the newest steps of a run are slower than its baseline, before a level can be fitted.

A change is fitted once it holds for 5% of a run. In a run of ten hours that is half an hour in
which steps may take twice as long. Here the newest blocks of steps are compared with blocks of
the same size from the baseline: each must be slower than nearly all of those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.step_kinds import find_kinds
from tb_slowdown_plugin.analysis.prepare.work import measure_work
from tb_slowdown_plugin.analysis.types import Diagnosis
from tb_slowdown_plugin.catalog.parameters.shared import ALL_BUT_ROUNDING, LARGER, SEVERAL, TELLING
from tb_slowdown_plugin.catalog.parameters.stats import (
    PERSISTENCE,
)
from tb_slowdown_plugin.catalog.parameters.views import FEWEST_BLOCKS_BEFORE
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float, Int

_BLOCK_SECONDS: Final = 3.0
_MIN_BLOCK_ROWS: Final = 8
"""The median of 8 ignores 3 outliers."""
_MAX_BLOCK_ROWS: Final = 256
_MAX_SHARE: Final = LARGER * PERSISTENCE


@dataclass(frozen=True, slots=True)
class Slowing:
    """The newest rows of a run, slower than its baseline. `S` is the number of its steps."""

    first_row: int
    growth_fraction: float
    """Median over these rows of what a step takes beyond the baseline, as a share of it."""
    excess_per_step: Float
    """(S,) seconds above the baseline; 0 before `first_row`."""


def find_slowing(run: Run, diagnosis: Diagnosis) -> Slowing | None:
    """The newest steps, if they are slower than the baseline and no finding holds that.

    Steps are compared with steps of their kind and number of items.

    Args:
      run: A live run.
      diagnosis: Of the run; what its findings lost is left out.
    """
    if not np.isfinite(diagnosis.baseline.seconds):
        return None
    left = diagnosis.healthy_per_step + diagnosis.unexplained_per_step
    comparable = find_kinds(run)
    usual = measure_work(left, diagnosis.warm_up_rows, comparable.kind, comparable.items)
    first, last = diagnosis.baseline.rows
    rows = np.flatnonzero(~np.isnan(usual))
    relative = left[rows] / usual[rows]
    width = _block_rows(left)
    newest = _block_medians(relative[-SEVERAL * width :], width)
    # A change that holds for longer has been fitted, and is no part of the baseline.
    aside = max(SEVERAL * width, int(_MAX_SHARE * len(rows)))
    in_base = (rows >= max(first, diagnosis.warm_up_rows)) & (rows <= last)
    in_base[-aside:] = False
    base = _block_medians(relative[in_base], width)
    if len(newest) < SEVERAL or len(base) < FEWEST_BLOCKS_BEFORE:
        return None
    level = float(np.median(base))
    limit = max(level + TELLING * level, float(np.quantile(base, ALL_BUT_ROUNDING)))
    if newest.min() <= limit:
        return None
    start = _first_row(relative, rows, width, limit)
    excess = np.zeros(len(left))
    excess[start:] = np.nan_to_num(np.maximum(left[start:] - level * usual[start:], 0.0))
    growth = float(np.median(relative[rows >= start])) / level - 1.0
    return Slowing(start, growth, excess)


def _block_rows(seconds: Float) -> int:
    recent = seconds[-1000:]
    usual = float(np.median(recent)) if len(recent) else 0.0
    wanted = _BLOCK_SECONDS / usual if usual > 0 else _MAX_BLOCK_ROWS
    return int(min(max(wanted, _MIN_BLOCK_ROWS), _MAX_BLOCK_ROWS))


def _block_medians(values: Float, width: int) -> Float:
    count = len(values) // width
    return np.asarray(np.median(values[: count * width].reshape(count, width), axis=1))


def _first_row(relative: Float, rows: Int, width: int, limit: float) -> int:
    """The row at which the newest blocks above the limit begin."""
    end = len(relative)
    while end >= width and np.median(relative[end - width : end]) > limit:
        end -= width
    return int(rows[min(end, len(rows) - 1)])
