"""What happens now and then: its growth, a first pass, and stalls where epochs begin."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.stats.events import (
    excess_of_first_pass,
    find_events,
    find_growth,
    find_stalls,
    is_at_boundaries,
    is_sparse,
)


def column_with(values: np.ndarray, every: int = 10) -> tuple[np.ndarray, np.ndarray]:
    column = np.zeros(len(values) * every)
    column[::every] = values
    return column, np.arange(0, len(column), every)


def test_only_rows_that_take_time_are_events() -> None:
    column = np.full(100, 1e-6)
    column[[7, 40]] = 0.2, 0.3
    assert find_events(column).tolist() == [7, 40]
    assert find_events(np.zeros(5)).tolist() == []
    assert is_sparse(column)
    assert not is_sparse(np.full(100, 0.1))


def test_events_that_take_longer_each_time_grow() -> None:
    column, rows = column_with(np.linspace(0.1, 0.2, 40))
    growth = find_growth(column, rows)
    assert growth is not None
    assert growth.numbers["growth_fraction"] == pytest.approx(1.0, rel=0.05)
    assert growth.lost_per_step.sum() == pytest.approx((column[rows] - 0.1).sum(), rel=0.02)
    assert not growth.lost_per_step[1:10].any()


@pytest.mark.parametrize(
    "values", [np.linspace(0.1, 0.2, 6), np.full(40, 0.1), np.linspace(0.1, 0.11, 40)]
)
def test_few_events_equal_ones_and_slight_growth_are_none(values: np.ndarray) -> None:
    assert find_growth(*column_with(values)) is None


def test_one_odd_event_decides_nothing() -> None:
    values = np.full(40, 0.1)
    values[-1] = 5.0
    assert find_growth(*column_with(values)) is None


def test_a_first_pass_gives_what_it_takes_above_the_others() -> None:
    column = np.concatenate([np.full(10, 0.5), np.full(20, 0.1)])
    early = excess_of_first_pass(column, np.array([0, 10, 20]))
    rest = column - early
    assert early[:10] == pytest.approx(np.full(10, 0.4))
    assert not early[10:].any()
    assert early + rest == pytest.approx(column)
    even = excess_of_first_pass(np.full(30, 0.1), np.array([0, 10, 20]))
    assert not even.any()


def test_seconds_beside_epoch_boundaries_are_told_from_those_anywhere() -> None:
    epochs = np.arange(0, 400, 100)
    beside, anywhere = np.zeros(400), np.zeros(400)
    beside[[99, 100, 200, 301]] = 1.0
    anywhere[50::100] = 1.0
    assert is_at_boundaries(beside, epochs)
    assert not is_at_boundaries(anywhere, epochs)
    assert not is_at_boundaries(beside, epochs[:2])


def test_steps_after_a_boundary_that_are_slow_in_most_epochs_are_stalls() -> None:
    epochs = np.arange(0, 500, 100)
    residual = np.zeros(500)
    residual[epochs[1:]] = 2.0
    (rows,) = find_stalls(residual, 0.05, epochs, 10)
    assert rows.tolist() == epochs.tolist()
    residual[epochs[2:]] = 0.0
    assert find_stalls(residual, 0.05, epochs, 10) == []
