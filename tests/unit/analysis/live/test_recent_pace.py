"""The newest steps against the baseline, before a level can be fitted."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.live.recent_pace import find_slowing

SIZE = 40_000
NOISE = np.exp(np.random.default_rng(7).normal(0, 0.03, SIZE))


def slowing(make_run, period):
    run = make_run(period)
    return find_slowing(run, diagnose(period))


def test_the_newest_steps_that_take_longer_are_found(make_run):
    period = 0.01 * NOISE
    period[-1000:] *= 1.6
    found = slowing(make_run, period)
    assert found is not None
    assert found.first_row == pytest.approx(SIZE - 1000, abs=260)
    assert found.growth_fraction == pytest.approx(0.6, abs=0.03)
    assert found.excess_per_step.sum() == pytest.approx(1000 * 0.006, rel=0.1)
    assert not found.excess_per_step[: found.first_row].any()


@pytest.mark.parametrize(("rows", "factor"), [(1000, 1.05), (100, 1.6), (0, 1.0)])
def test_a_little_slower_or_only_for_a_moment_is_none(make_run, rows, factor):
    period = 0.01 * NOISE
    period[SIZE - rows :] *= factor
    assert slowing(make_run, period) is None


def test_a_young_run_has_nothing_to_compare_with(make_run):
    period = 0.01 * NOISE[:600]
    period[-60:] *= 2
    assert slowing(make_run, period) is None
