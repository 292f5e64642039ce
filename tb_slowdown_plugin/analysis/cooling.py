"""The end of a warm-up that fades out: it is below what a change of level must have."""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.trend import LATEST_WARM_UP_END
from tb_slowdown_plugin.records.types import Float

_BLOCK_ROWS: Final = 8
_LEAST_EXCESS: Final = 0.04
"""Relative excess at which a warm-up that fades out is over."""
_LEAST_AT_FIRST: Final = 0.15
"""Relative excess right after the first, slow steps, from which they fade out."""
_RARE: Final = 0.98
"""Quantile of the later blocks that it must reach: of two sorts of steps that are mixed, the
slow ones may stand together."""
_SMOOTH: Final = 3
"""Blocks that must be warm together."""


def find_cooled(core: Float, expected: Float, warm_up_rows: int) -> int:
    """The row at which a warm-up has faded out.

    Args:
      core: (S,) seconds.
      expected: (S,) seconds at the level after warm-up; 0 in steps of which nothing is known.
      warm_up_rows: Rows that certainly are warm-up; without any there is no end to find.

    Returns:
      `warm_up_rows` or a later row in the first fifth of the run.
    """
    limit = int(LATEST_WARM_UP_END * len(core))
    blocks = (len(core) - warm_up_rows) // _BLOCK_ROWS
    early = (limit - warm_up_rows) // _BLOCK_ROWS
    if not warm_up_rows or early < 1:
        return warm_up_rows
    rows = slice(warm_up_rows, warm_up_rows + blocks * _BLOCK_ROWS)
    excess = np.zeros(blocks * _BLOCK_ROWS)
    np.divide(core[rows], expected[rows], out=excess, where=expected[rows] > 0)
    excess[expected[rows] > 0] -= 1.0
    middles = np.median(excess.reshape(blocks, _BLOCK_ROWS), axis=1)
    if middles[0] < max(_LEAST_AT_FIRST, float(np.quantile(middles[early:], _RARE))):
        return warm_up_rows
    smooth = np.convolve(middles[: early + _SMOOTH - 1], np.full(_SMOOTH, 1 / _SMOOTH), "valid")
    over = np.flatnonzero(smooth < _LEAST_EXCESS)
    count = int(over[0]) if len(over) else early
    return warm_up_rows + max(count, 1) * _BLOCK_ROWS


def book_warm_up(excess: Float, count: int) -> Float:
    """What each step lost to warm-up.

    Steps below the level count against those above it: else noise would be a loss.

    Args:
      excess: (W,) seconds above the level, with their sign, of the warm-up's rows.
      count: Rows of the run.

    Returns:
      (count,) seconds, none negative, that sum up to the sum of `excess` if that is positive.
    """
    above = np.maximum(excess, 0.0)
    lost = np.zeros(count)
    if above.any():
        lost[: len(excess)] = above * max(float(excess.sum() / above.sum()), 0.0)
    return lost
