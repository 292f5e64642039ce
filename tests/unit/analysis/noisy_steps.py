"""Steps of a quiet program: as long as each other but for 5%."""

from __future__ import annotations

import numpy as np


def noisy_steps(count: int, seconds: float = 0.01, seed: int = 0) -> np.ndarray:
    return seconds * np.exp(np.random.default_rng(seed).normal(0, 0.05, count))
