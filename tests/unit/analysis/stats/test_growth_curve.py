"""The curve through a stretch that grows."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats.growth_curve import (
    find_jump,
    fit_curve,
    fit_growth,
    fit_monotone,
    is_growth,
)

X = (np.arange(400) + 0.5) / 400
NOISE = np.random.default_rng(3).normal(0, 0.01, 400)
VARIANCE = 1e-4


@pytest.mark.parametrize(("power", "onset"), [(1.0, 0.0), (2.0, 0.0), (1.0, 0.4)])
def test_a_curve_is_found_through_its_noise(power: float, onset: float) -> None:
    truth = np.log(1.0 + 3.0 * (np.maximum(X - onset, 0) / (1 - onset)) ** power)
    found = fit_growth(truth + NOISE, VARIANCE)
    assert np.abs(found - truth).max() < 0.03


def test_growth_must_be_larger_than_noise_and_worth_telling() -> None:
    assert is_growth(np.linspace(0, 0.2, 400) + NOISE, VARIANCE, 5.0)
    assert not is_growth(np.linspace(0, 0.05, 400) + NOISE, VARIANCE, 5.0)
    assert not is_growth(np.linspace(0, 0.2, 400), 4.0, 5.0)
    assert not is_growth(np.array([0.0, 1.0, 2.0]), 1e-9, 5.0)


def test_stairs_follow_no_curve_and_get_a_monotone_one() -> None:
    stairs = np.repeat([0.0, 0.1, 1.0, 1.1, 2.0], 80)
    assert fit_curve(stairs + NOISE, VARIANCE) is None
    level = fit_growth(stairs + NOISE, VARIANCE)
    assert (np.diff(level) >= 0).all()
    assert np.abs(level - stairs).mean() < 0.01


def test_a_jump_that_fits_better_than_the_curve_is_placed() -> None:
    jump = np.repeat([0.0, 0.5], [250, 150]) + NOISE
    assert find_jump(jump, fit_monotone(np.linspace(0, 0.5, 400))) == 250
    line = np.linspace(0, 0.5, 400)
    assert find_jump(line + NOISE, line) is None
