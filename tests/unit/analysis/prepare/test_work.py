"""What a step would take if the run did not get slower."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.work import measure_work
from tb_slowdown_plugin.catalog.parameters.prepare import FEWEST_OF_A_KIND
from tb_slowdown_plugin.errors import UsageError

COUNT = 400


def test_steps_of_one_kind_take_their_median_everywhere() -> None:
    core = np.where(np.arange(COUNT) < 5, 1.0, 0.02)
    assert set(measure_work(core, 5, None, None)) == {0.02}


def test_each_kind_has_its_own_usual_step() -> None:
    kinds = np.arange(COUNT) % 4 == 0
    core = np.where(kinds, 0.05, 0.01)
    usual = measure_work(core, 0, kinds.astype(int), None)
    assert usual == pytest.approx(core)


def test_of_a_kind_with_too_few_steps_nothing_is_known() -> None:
    kinds = (np.arange(COUNT) < FEWEST_OF_A_KIND - 1).astype(int)
    usual = measure_work(np.full(COUNT, 0.01), 0, kinds, None)
    assert np.isnan(usual[kinds == 1]).all()
    assert usual[kinds == 0] == pytest.approx(0.01)


def test_more_items_take_longer_and_are_no_slowdown() -> None:
    items = 32.0 + 8 * (np.arange(COUNT) % 9)
    core = 0.002 + 0.0005 * items
    assert measure_work(core, 0, None, items) == pytest.approx(core, rel=0.03)


def test_a_step_without_items_counts_as_the_median_one_and_many_make_all_alike() -> None:
    items = np.where(np.arange(COUNT) < COUNT // 2, 32.0, 64.0)
    core = items / 3200
    items[7] = np.nan
    usual = measure_work(core, 0, None, items)
    assert np.delete(usual, 7) == pytest.approx(np.delete(core, 7))
    assert 0.009 < usual[7] < 0.021
    items[: COUNT // 5] = np.nan
    assert set(measure_work(core, 0, None, items)) == {np.median(core)}


def test_a_step_may_take_as_long_as_the_cube_of_its_items() -> None:
    """As what factors a matrix of so many rows; more than that is no work."""
    items = np.repeat(np.arange(60.0, 1020.0, 60.0), 25)
    core = 0.002 + 0.1 * (items / 960.0) ** 3
    assert measure_work(core, 0, None, items) == pytest.approx(core, rel=0.01)
    more = 0.1 * (items / 960.0) ** 6
    assert measure_work(more, 0, None, items)[-1] < 0.1 * more[-1]


def test_of_few_sizes_each_may_lie_a_quarter_beside_the_others() -> None:
    items = np.repeat([1000.0, 1400.0, 1800.0, 2200.0, 2600.0], 80)
    core = np.repeat([2.53e-3, 3.85e-3, 4.13e-3, 6.48e-3, 8.5e-3], 80)
    assert measure_work(core, 0, None, items) == pytest.approx(core, rel=0.001)
    slow = np.where(items == 1800.0, 2 * core, core)
    assert measure_work(slow, 0, None, items)[200] < 0.85 * slow[200]


def test_items_that_only_the_warm_up_has_are_left_out() -> None:
    items = np.full(COUNT, 32.0)
    items[-3:] = np.nan
    assert set(measure_work(np.full(COUNT, 0.01), COUNT - 3, None, items)) == {0.01}


def test_a_kind_for_each_step_is_needed() -> None:
    with pytest.raises(UsageError, match="give one for each step"):
        measure_work(np.full(COUNT, 0.01), 0, [0, 1], None)


def test_kinds_are_compared_where_both_are_there_while_all_steps_get_slower():
    """An agent that asks its policy ever more often, and whose memory takes ever longer."""
    rng = np.random.default_rng(1)
    asks = rng.random(4_000) < np.linspace(0.1, 0.95, 4_000)
    slower = np.linspace(1.0, 3.0, 4_000)
    usual = measure_work(np.where(asks, 0.003, 0.002) * slower, 0, asks.astype(int), None)
    assert usual[asks][0] / usual[~asks][0] == pytest.approx(1.5, rel=0.02)


def test_kinds_that_are_never_near_each_other_have_their_own_medians():
    kinds = np.repeat([0, 1], 500)
    usual = measure_work(np.where(kinds == 0, 0.010, 0.040), 0, kinds, None)
    assert usual[[0, -1]].tolist() == [0.010, 0.040]


def test_a_kind_is_compared_through_another_one_that_is_near_both():
    """The first and the last are never near each other."""
    part, at = 1_000, np.arange(3_000)
    kinds = np.where(at % 2 == 1, 1, np.where(at < 2 * part, 0, 2))
    seconds = np.array([0.010, 0.020, 0.040])[kinds] * np.linspace(1.0, 2.0, 3_000)
    usual = measure_work(seconds, 0, kinds, None)
    of_kind = [usual[np.argmax(kinds == each)] for each in range(3)]
    assert of_kind[0] / of_kind[1] == pytest.approx(0.5, rel=0.02)
    assert of_kind[2] / of_kind[1] == pytest.approx(2.0, rel=0.02)


def test_kinds_that_mostly_take_no_time_are_not_compared_by_it():
    kinds = np.arange(COUNT) % 2
    core = np.where((kinds == 0) | (np.arange(COUNT) % 3 == 0), 0.01, 0.0)
    usual = measure_work(core, 0, kinds, None)
    assert set(usual[kinds == 0]) == {0.01}
    assert np.isnan(usual[kinds == 1]).all()
    part_of_it = np.where(np.arange(COUNT) < COUNT // 2, core, 0.01)
    assert np.isfinite(measure_work(part_of_it, 0, kinds, None)).all()
