"""Whether a signal grows with the run."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.trend_tests import (
    counted_per_second,
    ends,
    growth_of,
    is_one_rise,
    measured_work,
)

SIZE = 600
SAMPLED = np.arange(0, SIZE, 20)


def case_of(make_run, values):
    run = make_run(np.full(SIZE, 0.1), signals={"x": values}, signal_rows=SAMPLED)
    return Case(run, None, (), ())


def test_growth_goes_from_the_first_third_to_the_last(make_run):
    growth = growth_of(case_of(make_run, 100.0 + SAMPLED), "x", (0, SIZE - 1))
    assert growth is not None
    assert (growth.first, growth.last) == (190.0, 590.0)
    assert growth.per_step == 1.0
    assert growth.steady
    assert not growth.one_rise


def test_a_count_has_exact_ends(make_run):
    growth = growth_of(case_of(make_run, 100.0 + SAMPLED), "x", (0, SIZE - 1), count=True)
    assert growth is not None
    assert (growth.first, growth.last) == (100.0, 680.0)


def test_few_samples_tell_nothing(make_run):
    case = case_of(make_run, 100.0 + SAMPLED)
    assert growth_of(case, "x", (0, 10)) is None
    six, seven = growth_of(case, "x", (0, 100)), growth_of(case, "x", (0, 120))
    assert six is not None
    assert seven is not None
    assert (six.steady, seven.steady) == (False, True)
    assert six.each_time


def test_what_falls_once_does_not_rise_each_time(make_run):
    values = np.where(SAMPLED == 60, 0.0, 100.0 + SAMPLED)
    growth = growth_of(case_of(make_run, values), "x", (0, SIZE - 1))
    assert growth is not None
    assert (growth.steady, growth.each_time) == (True, False)
    four = growth_of(case_of(make_run, 100.0 + SAMPLED), "x", (0, 60))
    assert four is not None
    assert not four.each_time


def test_a_signal_that_jumps_once_rises_once():
    assert is_one_rise(SAMPLED, np.where(SAMPLED >= 300, 5.0, 1.0))
    assert not is_one_rise(SAMPLED, 1.0 * SAMPLED)


def test_bytes_a_second_are_over_the_wall_time(make_run):
    assert counted_per_second(case_of(make_run, 1e6 * SAMPLED), "x", 0, 599) == pytest.approx(1e7)
    assert counted_per_second(case_of(make_run, 1e6 * SAMPLED), "x", 5, 10) is None


def test_ends_are_typical_of_what_is_known():
    series = np.linspace(0, 99, 100)
    series[1] = np.nan
    assert ends(series, (0, 99)) == (
        6.0,
        96.0,
    )  # the fourth of seven stretches, of one step and of two


def test_work_with_an_account_is_neither_waiting_nor_a_part_of_the_step(make_run):
    accounts = {
        "callback:Plot": np.full(SIZE, 0.02),
        "tracing:again": np.full(SIZE, 0.01),
        "input_wait": np.full(SIZE, 0.03),
        "phase:forward": np.full(SIZE, 0.04),
    }
    run = make_run(np.full(SIZE, 0.1), accounts=accounts)
    np.testing.assert_allclose(measured_work(Case(run, None, (), ())), 0.03)
