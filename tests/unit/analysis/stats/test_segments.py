"""A jump is placed to the row by the likelihood of the run's own noise."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.stats.noise import best_split
from tb_slowdown_plugin.analysis.stats.segments import (
    estimate_density,
    place_jump,
)


def test_a_density_is_highest_where_the_values_are():
    density = estimate_density(np.random.default_rng(0).normal(0, 0.1, 5000))
    middle, aside, far = density.log_likelihood(np.array([0.0, 0.1, 9.0]))
    assert middle - aside == pytest.approx(0.5, abs=0.1)
    assert far < aside - 3


def test_the_row_of_a_jump():
    noise = np.random.default_rng(1).normal(0, 0.05, 400)
    density = estimate_density(noise)
    assert (
        place_jump(noise[:100] + np.where(np.arange(100) < 37, 0.0, 0.5), 0.0, 0.5, density) == 37
    )
    assert place_jump(np.zeros(10), 0.0, 0.5, density) == 10
    assert place_jump(np.full(10, 0.5), 0.0, 0.5, density) == 0


def test_two_sorts_of_steps_do_not_hide_where_both_jump():
    """Their difference is four times the jump: two means put it anywhere."""
    by_density, by_means = [], []
    for seed in range(40):
        random = np.random.default_rng(seed)
        noise = random.normal(0, 0.02, 600) + np.where(random.random(600) < 0.3, 0.4, 0.0)
        values = (noise + np.where(np.arange(600) < 300, 0.0, 0.1))[240:360]
        by_density.append(abs(place_jump(values, 0.0, 0.1, estimate_density(noise)) - 60))
        by_means.append(abs(best_split(values)[0] - 60))
    assert max(by_density) <= 2
    assert np.mean(by_means) > 5


def test_the_engine_places_a_small_jump_of_mixed_steps():
    random = np.random.default_rng(4)
    step = 0.01 * np.exp(random.normal(0, 0.02, 2000)) * np.where(random.random(2000) < 0.3, 1.5, 1)
    step[1203:] *= 1.12
    (found,) = diagnose(step).findings
    assert found.pattern == "level_shift"
    assert found.rows[0] == pytest.approx(1203, abs=3)
