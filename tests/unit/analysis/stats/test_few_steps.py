"""A dozen steps: a jump and what comes back are told by their power, and noise is not."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats import few_steps
from tb_slowdown_plugin.analysis.stats.few_steps import find_period, find_two_levels, stand_out


def noise(count, sigma=0.05, seed=0):
    return np.random.default_rng(seed).normal(0, sigma, count)


def test_the_examples_hold():
    assert doctest.testmod(few_steps).failed == 0


@pytest.mark.parametrize("cut", [4, 6, 8])
def test_a_jump_by_half_is_placed_at_its_row(cut):
    steps = noise(12) + np.where(np.arange(12) < cut, 0.0, np.log(1.5))
    trend = find_two_levels(steps, 0)
    assert trend.base_buckets == (0, cut)
    assert trend.rises[0].after / trend.rises[0].before == pytest.approx(1.5, rel=0.1)


def test_a_fall_and_a_small_jump_are_none():
    half = np.arange(12) < 6
    assert find_two_levels(noise(12) + np.where(half, 1.0, 0.0), 0) is None
    assert find_two_levels(noise(12, 0.01) + np.where(half, 0.0, 0.2), 0) is None


def test_noise_alone_jumps_in_one_of_a_thousand():
    found = [find_two_levels(noise(12, 0.3, seed), 0) for seed in range(6000)]
    assert sum(each is not None for each in found) <= 6


def test_a_period_counts_the_first_steps_too():
    steps = noise(12)
    steps[::4] += 1.0
    found = find_period(steps, 1)
    assert (found.period, found.rows.tolist()) == (4, [0, 4, 8])


def test_stalls_anywhere_are_no_period():
    steps = noise(20)
    steps[[3, 8, 9, 17]] += 1.0
    assert find_period(steps, 0) is None


def test_what_stands_out_is_measured_as_of_normal_noise():
    """1 in 1,000 by Student's t with two degrees of freedom is t = 22.3, z = 3.09."""
    apart = 22.33 * np.sqrt(0.5 + 0.5)  # standard deviation 1 on each side, two values
    values = np.array([0.0, np.sqrt(2)])
    assert stand_out(values + apart, values) == pytest.approx(3.09, abs=0.15)
