"""How much runs of one program differ by chance."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.analysis.compare.run_noise import Chance, chance_between, t_quantile


@pytest.mark.parametrize(
    ("probability", "degrees", "quantile"),
    [(0.975, 4, 2.776), (0.995, 10, 3.169), (0.975, 1, 12.706)],
)
def test_quantiles_are_those_of_the_tables(probability, degrees, quantile):
    assert t_quantile(probability, degrees) == pytest.approx(quantile, abs=5e-4)


def test_the_spread_is_pooled_over_both_sides():
    chance = chance_between([1.0, 1.2], [2.0, 2.0, 2.3], within=0.01, scale=1.0)
    assert chance.degrees == 3
    assert chance.seen == pytest.approx(((0.02 + 0.06) / 3) ** 0.5)
    assert chance_between([1.0], [2.0], within=0.0, scale=1.0).seen == 0.0


def test_more_runs_and_less_noise_make_the_margin_smaller():
    chance = Chance(seen=0.01, degrees=4, within=0.0, scale=1.0)
    assert chance.margin(6, 6) < chance.margin(3, 3) < chance.margin(1, 1)
    noisy = Chance(seen=0.01, degrees=4, within=0.2, scale=1.0)
    assert noisy.margin(3, 3) > chance.margin(3, 3)
    disturbed = Chance(seen=0.0, degrees=0, within=0.0, scale=1.0, disturbed=0.1)
    assert disturbed.margin(1, 1) > 2 * Chance(0.0, 0, 0.0, 1.0).margin(1, 1)
