"""Segmentation and trend: where a level changes, and what is only a pulse, noise or a slope."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats.buckets import bucket
from tb_slowdown_plugin.analysis.stats.change_points import segment
from tb_slowdown_plugin.analysis.stats.growth_curve import fit_growth, is_growth
from tb_slowdown_plugin.analysis.stats.noise import long_run_variance
from tb_slowdown_plugin.analysis.stats.trend import fit_trend


def noise(count, sigma=0.05, seed=0):
    return np.random.default_rng(seed).normal(0, sigma, count)


def trend_of(relative, significance=5.0):
    logs = np.log(relative)
    return fit_trend(bucket(logs), logs, significance)


def test_long_run_variance_of_white_noise_is_its_variance():
    assert long_run_variance(noise(4096, 0.1)) == pytest.approx(0.01, rel=0.5)


def test_long_run_variance_sees_slow_noise_and_no_shift():
    slow = np.repeat(noise(64, 0.1), 16)
    assert long_run_variance(slow) > 4 * slow.var()
    shifted = noise(1024, 0.1) + np.where(np.arange(1024) > 500, 5.0, 0.0)
    assert long_run_variance(shifted) == pytest.approx(0.01, rel=0.8)


def test_noise_is_one_piece():
    cut = segment(noise(1000))
    assert [(piece.first, piece.end) for piece in cut.pieces] == [(0, 1000)]
    assert cut.excursions == ()


def test_two_shifts_are_three_pieces():
    values = noise(1000)
    values[300:600] += 0.3
    assert [piece.first for piece in segment(values).pieces] == [0, 300, 600]


def test_a_pulse_is_an_excursion_and_leaves_no_change():
    values = noise(1000)
    values[500:530] += 1.0
    cut = segment(values)
    assert len(cut.pieces) == 1
    ((first, end, unfinished),) = [(e.first, e.end, e.unfinished) for e in cut.excursions]
    assert abs(first - 500) <= 2
    assert abs(end - 530) <= 2
    assert not unfinished


@pytest.mark.parametrize("seed", range(10, 20))
def test_a_slope_that_ends_in_a_short_level_comes_to_an_end(seed):
    """Drawing the level in to the end of the slope changes nothing: seed 12 went on for ever."""
    level, slope = np.full(48, -2.3), np.linspace(-0.79, -1.26, 19)
    parts = [level, np.full(4, -1.12), slope, np.full(4, -1.26)]
    cut = segment(np.concatenate(parts) + noise(75, 0.02, seed), 6.0)
    assert cut.pieces[0].end == 48
    assert len(cut.excursions) <= 2


def test_a_pulse_at_the_end_is_unfinished():
    values = noise(1000)
    values[970:] += 1.0
    assert [each.unfinished for each in segment(values).excursions] == [True]


def test_a_jump_is_placed_to_the_row():
    relative = np.exp(noise(20_000, 0.08))
    relative[12_345:] *= 1.2
    trend = trend_of(relative)
    (rise,) = trend.rises
    assert rise.pattern == "level_shift"
    first = trend.edges[np.flatnonzero(rise.height)[0]]
    assert abs(first - 12_345) <= 20
    assert rise.after / rise.before == pytest.approx(1.2, rel=0.02)


@pytest.mark.parametrize("first", range(297, 305))
def test_steps_that_take_a_hundred_times_as_long_jump_wherever_a_bucket_ends(first):
    """A bucket of eight rows with the jump in it is far from both levels."""
    relative = np.exp(noise(443, 0.08))
    relative[first:] *= 190
    (rise,) = trend_of(relative).rises
    assert rise.pattern == "level_shift"
    assert rise.after / rise.before == pytest.approx(190, rel=0.05)


def test_a_staircase_is_jumps_and_a_slope_is_growth():
    stairs = np.exp(noise(8000)) * (1 + np.arange(8000) // 2000)
    slope = np.exp(noise(8000)) * np.linspace(1, 5, 8000)
    assert [rise.pattern for rise in trend_of(stairs).rises] == ["level_shift"] * 3
    assert [rise.pattern for rise in trend_of(slope).rises] == ["drift"]


def test_what_came_last_goes_first():
    relative = np.exp(noise(10_000))
    relative[2000:] *= 1.5
    relative[5000:7000] *= 1.5
    rises = sorted(trend_of(relative).rises, key=lambda rise: -np.count_nonzero(rise.height))
    spans = [len(np.flatnonzero(rise.height)) / len(rise.height) for rise in rises]
    assert spans == pytest.approx([0.8, 0.2], abs=0.01)


def test_a_slow_beginning_is_warm_up():
    relative = np.exp(noise(5000)) + 3 * np.exp(-np.arange(5000) / 60)
    trend = trend_of(relative)
    assert 100 <= trend.edges[trend.warm_up] <= 400
    assert trend.rises == ()


def test_two_sorts_of_steps_in_turn_make_no_change():
    random = np.random.default_rng(3)
    for _ in range(20):
        mixed = np.exp(noise(500)) * np.where(random.random(500) < 0.45, 1.6, 1.0)
        assert trend_of(mixed, 6.0).rises == ()


@pytest.mark.parametrize("power", [0.5, 1, 2, 3])
def test_growth_is_fitted_without_its_noise(power):
    x = (np.arange(500) + 0.5) / 500
    truth = np.log(1 + 2 * x**power)
    values = truth + noise(500, 0.05)
    assert is_growth(values, 0.0025, 5.0)
    assert np.abs(fit_growth(values, 0.0025) - truth).max() < 0.04


def test_growth_that_begins_late_and_growth_of_no_known_shape():
    x = np.arange(500) / 500
    late = np.log(1 + 3 * np.clip(x - 0.4, 0, None) / 0.6)
    assert np.abs(fit_growth(late + noise(500, 0.03), 0.001) - late).max() < 0.04
    odd = np.log(1 + x + 0.5 * np.floor(4 * x))
    assert np.abs(fit_growth(odd, 1e-6) - odd).max() < 0.02


def test_noise_is_not_growth():
    assert not is_growth(noise(500), 0.0025, 5.0)


@pytest.mark.parametrize(("power", "onset"), [(1.35, 0.0), (0.85, 0.0), (1.0, 0.43)])
def test_strong_growth_is_fitted_to_its_beginning(power, onset):
    """Between two powers of the grid, the level at the beginning was 10% too low."""
    x = np.clip((np.arange(900) - 900 * onset) / (900 * (1 - onset)), 0, None)
    truth = np.log(1 + 15 * x**power)
    fitted = fit_growth(truth + noise(900, 0.03), 0.03**2)
    assert np.abs(fitted - truth).max() < 0.03
    assert np.abs(fitted - truth).mean() < 0.004


def test_a_burst_beside_a_shift_is_joined_to_what_is_like_it():
    values = noise(1000, 0.02)
    values[360:600] += 0.38
    values[348:360] += 0.30
    assert [each.pattern for each in trend_of(np.exp(values)).rises] == ["level_shift"]


def test_a_weak_curve_is_no_jump():
    values = np.log(1 + 0.2 * np.linspace(0, 1, 8000) ** 2.2) + noise(8000, 0.05)
    assert [each.pattern for each in trend_of(np.exp(values)).rises] == ["drift"]
