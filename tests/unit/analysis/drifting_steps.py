"""A run of which each step takes a little longer than the one before."""

from __future__ import annotations

import numpy as np

SIZE = 600
DRIFT = 0.010 + np.linspace(0.0, 0.030, SIZE)
LOST = np.linspace(0.0, 0.030, SIZE)
SAMPLED = np.arange(1, SIZE, 10)


def drift(find, **numbers):
    return find("core", "drift", LOST, rows=(0, SIZE - 1), confidence="medium", **numbers)
