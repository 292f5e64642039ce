"""How often to do something, so that it fits the run."""

import pytest

from tb_slowdown_plugin.analysis.causes.common.intervals import fitting_seconds, fitting_steps
from tb_slowdown_plugin.catalog.parameters.causes import AFFORDABLE


@pytest.mark.parametrize(
    ("wanted", "least", "steps", "every"),
    [(60, 2, 600, 100), (60, 2, 0, 100), (1_000, 40, 600, 200), (7, 1, 3_000, 10)],
)
def test_a_round_number_of_steps_that_the_run_has_three_times(wanted, least, steps, every):
    assert fitting_steps(wanted, least, steps) == every


def test_a_run_that_is_too_short_has_none():
    assert fitting_steps(1_000, 400, 600) is None


@pytest.mark.parametrize("cost", [0.05, 0.5, 3.0])
def test_seconds_are_so_many_that_it_costs_little(cost):
    assert cost <= AFFORDABLE * fitting_seconds(cost, 1e6) <= 20 * cost
    assert fitting_seconds(0.0, 1e6) == 600
    assert fitting_seconds(30.0, 60.0) == 10
