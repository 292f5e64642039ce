"""Growth is what Kendall's test is sure of, and large enough to be told."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats.time_trend import goes_on_growing, grows, trend_of

NOISE = np.random.default_rng(1).normal(size=1000)


@pytest.mark.parametrize(
    ("series", "growing"),
    [
        (np.arange(1.0, 8.0), True),
        (np.arange(1.0, 7.0), False),  # six in order have z = 2.8
        (np.linspace(1.0, 1.04, 100), False),
        (np.linspace(1.0, 1.06, 100), True),
        (np.linspace(2.0, 1.0, 100), False),
        (np.full(100, 3.0), False),
        (1 + 0.1 * NOISE, False),
        (1 + 0.1 * NOISE + np.linspace(0.0, 0.3, 1000), True),
        (np.append(np.ones(99), 1e9), False),
        (np.linspace(-2.0, -1.0, 100), True),
        (np.linspace(0.0, 1.0, 100), True),
        ([], False),
        ([1.0], False),
        ([np.nan, np.nan], False),
    ],
)
def test_what_grows(series, growing):
    assert grows(series) is growing


def test_what_was_not_measured_is_left_out():
    series = np.linspace(1.0, 2.0, 100)
    series[::2] = np.nan
    assert grows(series)


def test_the_mean_sees_what_most_values_lack():
    rare = np.where(np.arange(1000) % 10 == 0, np.linspace(1.0, 3.0, 1000), 0.0)
    assert not grows(rare)
    assert grows(rare, np.mean)


def test_equal_values_make_it_less_certain():
    steps = np.repeat(np.arange(4.0), 6)
    tied, distinct = trend_of(steps).z, trend_of(np.arange(24.0)).z
    # 216 of 276 pairs rise; the variance is 1625.33 less 4 times that of six values, 28.33.
    assert tied == pytest.approx(216 / np.sqrt(1625.3333 - 4 * 28.3333), rel=1e-6)
    assert tied < distinct == pytest.approx(6.846, abs=1e-3)


def test_the_line_ignores_one_odd_value():
    values = np.arange(10.0, 20.0)
    values[3] = 500.0
    trend = trend_of(values)
    assert (trend.start, trend.end) == (pytest.approx(10.0), pytest.approx(19.0))


def test_chance_is_rarely_taken_for_growth():
    random = np.random.default_rng(3)
    found = sum(grows(random.normal(1.0, 0.5, 200)) for _ in range(2000))
    assert found <= 10  # 1 in 740 by the normal distribution


def test_what_wanders_may_grow_but_does_not_go_on():
    random = np.random.default_rng(4)
    walks = [np.cumsum(random.normal(size=120)) + 50 for _ in range(300)]
    assert sum(grows(walk) for walk in walks) > 60
    assert sum(goes_on_growing(walk) for walk in walks) <= 15


@pytest.mark.parametrize(
    ("series", "growing"),
    [
        (np.arange(21.0), True),
        (np.arange(18.0), False),
        (np.append(np.arange(40.0), np.full(20, 39.0)), False),
        (np.arange(2.0), False),
    ],
)
def test_each_third_must_rise(series, growing):
    assert goes_on_growing(series) is growing
