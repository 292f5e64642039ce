"""A saw is found by its teeth, and noise, stalls and one long growth have none."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats.cycles import Cycle, find_cycles

TOOTH = 60
SAW = np.tile(np.linspace(1.0, 3.0, TOOTH), 8)


def noise(seed: int, count: int, deviation: float) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(0, deviation, count))


def test_the_teeth_of_a_saw():
    assert find_cycles(SAW) == [Cycle(at, at + TOOTH) for at in range(0, len(SAW), TOOTH)]


def test_fewer_falls_are_enough_on_request():
    saw = np.tile(np.linspace(1.0, 3.0, 160), 2)
    assert find_cycles(saw) == []
    assert find_cycles(saw, least_falls=1) == [Cycle(0, 160), Cycle(160, 320)]


@pytest.mark.parametrize("deviation", [0.05, 0.1])
def test_the_teeth_of_a_saw_in_noise(deviation):
    for seed in range(20):
        found = find_cycles(SAW * noise(seed, len(SAW), deviation))
        assert 6 <= len(found) <= 8
        assert all(abs(each.end - TOOTH * round(each.end / TOOTH)) <= 2 for each in found)


def test_teeth_of_other_lengths_and_one_stall():
    lengths = [30, 55, 41, 80, 62]
    saw = np.concatenate([np.linspace(1.0, 4.0, length) for length in lengths])
    saw[100] = 40.0
    assert [each.end - each.first for each in find_cycles(saw)] == pytest.approx(lengths, abs=2)


@pytest.mark.parametrize(
    "values",
    [
        pytest.param(np.linspace(1.0, 8.0, 480), id="one growth"),
        pytest.param(np.tile(np.linspace(1.0, 3.0, 160), 3), id="two falls"),
        pytest.param(np.tile(np.linspace(1.0, 1.4, TOOTH), 8), id="a small rise"),
        pytest.param(np.tile(np.linspace(3.0, 1.0, TOOTH), 8), id="what falls in each cycle"),
        pytest.param(np.tile(np.repeat([1.0, 3.0], TOOTH // 2), 8), id="two levels in turn"),
        pytest.param(np.where(np.arange(480) % TOOTH == 0, 30.0, 1.0), id="stalls"),
        pytest.param(np.tile(np.linspace(1.0, 3.0, 7), 60), id="cycles of a few steps"),
        pytest.param(np.concatenate([SAW[: 4 * TOOTH], np.ones(480)]), id="a part of the run"),
        pytest.param(np.ones(5), id="five steps"),
        pytest.param(np.ones(0), id="none"),
    ],
)
def test_what_is_no_saw(values):
    assert find_cycles(values * noise(1, len(values), 0.01)) == []


def test_noise_is_no_saw():
    for seed in range(200):
        steady = noise(seed, 600, 0.4)
        slow = np.repeat(noise(seed, 60, 0.4), 10)  # weather that lasts for ten steps
        assert find_cycles(steady) == find_cycles(slow * noise(seed + 1000, 600, 0.1)) == []
