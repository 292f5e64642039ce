"""The level of a series: its base, its rises, and its warm-up."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats.buckets import bucket
from tb_slowdown_plugin.analysis.stats.trend import Trend, fit_trend

NOISE = np.random.default_rng(5).normal(0, 0.03, 4000)


def trend_of(level: np.ndarray) -> Trend:
    rows = np.log(level) + NOISE
    return fit_trend(bucket(rows), rows, 5.0)


def test_noise_alone_has_one_level() -> None:
    trend = trend_of(np.full(4000, 0.01))
    assert trend.rises == ()
    assert trend.base == pytest.approx(0.01, rel=0.01)
    assert trend.warm_up == 0


def test_a_jump_stands_at_its_very_row() -> None:
    trend = trend_of(np.where(np.arange(4000) >= 2503, 0.015, 0.01))
    (rise,) = trend.rises
    assert (rise.pattern, rise.after / rise.before) == ("level_shift", pytest.approx(1.5, rel=0.02))
    level = trend.spread(trend.level)
    assert abs(int(np.argmax(level > 0.0125)) - 2503) <= 2


def test_growth_is_one_drift_from_the_beginning() -> None:
    trend = trend_of(np.linspace(0.01, 0.03, 4000))
    (rise,) = trend.rises
    assert rise.pattern == "drift"
    assert trend.base == pytest.approx(0.01, rel=0.05)
    assert rise.after == pytest.approx(0.03, rel=0.05)


def test_a_slow_beginning_is_warm_up() -> None:
    trend = trend_of(np.where(np.arange(4000) < 300, 0.03, 0.01))
    assert trend.rises == ()
    assert trend.edges[trend.warm_up] == pytest.approx(300, abs=3)
