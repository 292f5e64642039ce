"""What an epoch costs: the first pass over the data, and the boundary between two."""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.records.types import Float, Int

FEWEST_EPOCHS: Final = 3
_CONCENTRATED: Final = 0.6
"""Share of an account's seconds that must stand beside epoch boundaries."""
_LEAST_STALL: Final = 0.5
_LEAST_HITS: Final = 0.7
_FIRST_ABOVE: Final = 1.2
"""A first pass must take so many times what the later ones take to be a warm-up."""


def split_first_pass(column: Float, epochs: Int) -> tuple[Float, Float]:
    """Splits off what the first pass over the data took longer than the later ones.

    Args:
      column: (S,) seconds of an account.
      epochs: Rows at which epochs begin.

    Returns:
      Two arrays (S,) that add up to `column`: what the first pass took above
      the slowest later one, spread over it in proportion, and the rest.
    """
    early = np.zeros_like(column)
    passes = np.split(column, epochs[epochs > 0])
    later = [float(part.mean()) for part in passes[1:] if len(part) >= 2]
    first = float(passes[0].mean()) if len(passes[0]) >= 2 else 0.0
    # The last pass may be incomplete, and then holds only an expensive beginning.
    usual = float(np.median(later)) if later else 0.0
    if later and first > _FIRST_ABOVE * usual:
        early[: len(passes[0])] = column[: len(passes[0])] * (1 - usual / first)
    return early, column - early


def is_at_boundaries(column: Float, epochs: Int) -> bool:
    """Whether most of an account's seconds stand in steps beside epoch boundaries."""
    if len(epochs) < FEWEST_EPOCHS:
        return False
    beside = np.unique(np.concatenate([epochs - 1, epochs, epochs + 1]))
    beside = beside[(beside >= 0) & (beside < len(column))]
    share = len(beside) / len(column)
    held = float(column[beside].sum()) / max(float(column.sum()), 1e-12)
    return held >= max(_CONCENTRATED, 3 * share)


def find_stalls(residual: Float, sigma: float, epochs: Int, start: int) -> list[Int]:
    """Rows at, before or after epoch boundaries that are slow in most epochs.

    Args:
      residual: (S,) relative excess of each step over its level; 0 before `start`.
      sigma: Its robust standard deviation.
      epochs: Rows at which epochs begin.
      start: First row after warm-up.

    Returns:
      One array for each of the three places that stalls, rows in the warm-up included.
    """
    found = []
    for offset in (-1, 0, 1):
        rows = epochs + offset
        rows = rows[(rows >= 0) & (rows < len(residual))]
        excess = residual[rows[rows >= start]]
        if len(excess) < FEWEST_EPOCHS - 1:
            continue
        slow = np.median(excess) >= max(_LEAST_STALL, 6 * sigma)
        if slow and np.mean(excess > 4 * sigma) >= _LEAST_HITS:
            found.append(rows)
    return found
