"""Why a level is above its lowest one."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats.rises import find_base, find_rises
from tb_slowdown_plugin.analysis.stats.segments import Part


def test_the_base_is_the_lowest_level_that_was_held() -> None:
    level = np.repeat([1.5, 1.0, 2.0], [40, 40, 20])
    parts = [Part(0, 40, False), Part(40, 80, False), Part(80, 100, False)]
    assert find_base(level, parts, 0) == (1.0, (40, 80))


def test_a_dip_that_the_run_came_back_from_is_not_the_base() -> None:
    level = np.repeat([1.5, 1.0, 1.5], [45, 10, 45])
    parts = [Part(0, 45, False), Part(45, 55, False), Part(55, 100, False)]
    assert find_base(level, parts, 0)[0] == 1.5


def test_one_fast_step_at_first_is_not_the_base_of_what_seems_to_grow() -> None:
    level = np.append(0.2, np.full(39, 1.0))
    base, _ = find_base(level, [Part(0, 40, grows=True)], 0)
    assert base == 1.0
    growth = np.linspace(0.2, 1.0, 40)
    assert find_base(growth, [Part(0, 40, grows=True)], 0)[0] == pytest.approx(0.2)


def test_a_jump_has_its_height_from_where_it_stands() -> None:
    level = np.repeat([1.0, 1.4], [60, 40])
    (rise,) = find_rises(level, 1.0, [Part(0, 60, False), Part(60, 100, False)], 0, 1e-4)
    assert (rise.pattern, rise.at_start) == ("level_shift", False)
    assert (rise.before, rise.after) == (1.0, pytest.approx(1.4))
    assert rise.height == pytest.approx(np.repeat([0.0, 0.4], [60, 40]))
    assert rise.z == pytest.approx(np.log(1.4) / np.sqrt(1e-4 * (1 / 40 + 1 / 60)))


def test_growth_is_a_drift_and_a_slow_first_part_at_the_start() -> None:
    grown = np.linspace(1.0, 2.0, 100)
    (drift,) = find_rises(grown, 1.0, [Part(0, 100, True)], 0, 1e-4)
    assert (drift.pattern, drift.after) == ("drift", pytest.approx(2.0))
    fallen = np.repeat([1.6, 1.0], [50, 50])
    (first,) = find_rises(fallen, 1.0, [Part(0, 50, False), Part(50, 100, False)], 0, 1e-4)
    assert first.at_start
    assert not first.height[50:].any()


def test_a_rise_that_ends_leaves_the_level_below_to_what_was_before() -> None:
    level = np.repeat([1.0, 2.0, 1.0], [40, 20, 40])
    parts = [Part(0, 40, False), Part(40, 60, False), Part(60, 100, False)]
    (rise,) = find_rises(level, 1.0, parts, 0, 1e-4)
    assert np.flatnonzero(rise.height).tolist() == list(range(40, 60))
