"""How much a series moves by itself."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats.noise import (
    best_split,
    deviation,
    long_run_variance,
    running_median,
)

NOISE = np.random.default_rng(1).normal(0, 1, 4096)


def test_outliers_do_not_count_for_the_deviation() -> None:
    spoiled = NOISE.copy()
    spoiled[::100] = 1000.0
    assert deviation(NOISE) == pytest.approx(1.0, rel=0.05)
    assert deviation(spoiled) == pytest.approx(1.0, rel=0.08)
    assert deviation(np.empty(0)) == 0.0


def test_slow_noise_has_the_larger_long_run_variance() -> None:
    slow = np.convolve(NOISE, np.ones(8) / 8, mode="valid")
    assert long_run_variance(NOISE) == pytest.approx(1.0, rel=0.5)
    assert long_run_variance(slow) > 4 * deviation(slow) ** 2


def test_a_level_shift_is_no_noise() -> None:
    shifted = NOISE + np.where(np.arange(4096) > 2000, 50.0, 0.0)
    assert long_run_variance(shifted) == pytest.approx(long_run_variance(NOISE), rel=0.3)
    assert long_run_variance(np.zeros(100)) > 0


def test_a_running_median_leaves_a_single_value_out() -> None:
    assert running_median(np.array([1.0, 1.0, 9.0, 1.0, 2.0]), 3).tolist() == [1, 1, 1, 2, 2]


def test_the_best_split_is_where_the_level_changes() -> None:
    at, saved = best_split(np.repeat([1.0, 2.0], [30, 10]))
    assert at == 30
    assert saved == pytest.approx(40 * 0.25 * 0.75)
