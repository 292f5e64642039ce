"""A finding has the rows and the seconds of what it lost."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.ledger.findings import (
    AT_START,
    find_losses,
    floor_of,
    make_finding,
)
from tb_slowdown_plugin.analysis.stats.buckets import bucket
from tb_slowdown_plugin.analysis.stats.rises import Rise
from tb_slowdown_plugin.analysis.stats.trend import Trend, fit_trend
from tb_slowdown_plugin.catalog.parameters.ledger import FLAT_FLOOR, GROWTH_FLOOR

SERIES = np.where(np.arange(2000) >= 1200, 0.015, 0.010)


def rise(before: float, after: float, *, at_start: bool = False) -> Rise:
    return Rise("level_shift", at_start, np.zeros(3), before, after, 9.0)


def trend_with(*rises: Rise) -> Trend:
    return Trend(np.ones(3), 1.0, (0, 3), rises, 0, (), np.arange(4))


def test_rows_and_seconds_are_those_of_the_loss() -> None:
    lost = np.array([0.0, 0.2, 0.0, 0.1])
    made = make_finding("gc", "periodic", lost, "high")
    assert (made.rows, made.lost_seconds) == ((1, 3), pytest.approx(0.3))
    assert make_finding("gc", "periodic", np.zeros(4), "low").rows == (0, 0)


def test_a_slightly_slower_first_part_is_no_loss() -> None:
    late, slight, first = rise(1, 1.06), rise(1, 1.2, at_start=True), rise(1, 1.3, at_start=True)
    losses = find_losses(trend_with(late, slight, first), 1.0)
    assert [loss.rise for loss in losses] == [late, first]
    assert floor_of(rise(1.0, 2.0)) == GROWTH_FLOOR
    assert floor_of(rise(1.0, 2.0, at_start=True)) == FLAT_FLOOR


def test_a_rise_takes_its_share_of_each_row() -> None:
    logs = np.log(SERIES)
    trend = fit_trend(bucket(logs), logs, 5.0)
    (found,) = find_losses(trend, 1.0)
    assert found.share @ SERIES == pytest.approx(800 * 0.005, rel=0.01)


def test_a_rise_is_told_in_seconds() -> None:
    ((_, _, told),) = find_losses(trend_with(rise(1.1, 1.6, at_start=True)), 0.01, offset=0.1)
    assert told[AT_START] == 1.0
    assert told["before_seconds"] == pytest.approx(0.010)
    assert told["after_seconds"] == pytest.approx(0.015)
    assert told["growth_fraction"] == pytest.approx(0.5)


@pytest.mark.parametrize(("grown", "named"), [(0.10, False), (0.25, True)])
def test_growth_by_a_tenth_is_named_from_a_twentieth_of_the_run_on(grown, named):
    """As much as a processor that gets warm: of it, 4% of the run is no slowdown."""
    noise = 1 + 0.01 * np.random.default_rng(3).standard_normal(700)
    seconds = 0.0115 * noise * (1 + grown * np.clip(np.linspace(-0.4, 1, 700), 0, None))
    assert bool(diagnose(seconds).findings) == named
