"""600 steps of 10 ms, and columns that add to them."""

from __future__ import annotations

import numpy as np

SIZE = 600
STEP = np.full(SIZE, 0.010)


def at(rows, seconds) -> np.ndarray:
    column = np.zeros(SIZE)
    column[rows] = seconds
    return column
