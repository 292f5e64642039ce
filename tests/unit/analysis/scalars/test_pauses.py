"""Pauses of a plan, told from slow steps by their size and their distance."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.scalars.pauses import find_pauses, running_median


def steps(rows: int = 1000, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(1.0, 0.02, rows)


def test_evaluations_by_steps_are_pauses() -> None:
    seconds = steps()
    seconds[99::100] += 20.0
    pauses = find_pauses(seconds)
    assert pauses.count == 10
    assert pauses.seconds.sum() == pytest.approx(200, rel=0.01)
    assert not pauses.is_longer


def test_evaluations_by_the_clock_are_pauses_though_steps_get_slower() -> None:
    seconds = steps()
    seconds[600:] *= 3.0
    due = np.flatnonzero(np.diff(np.cumsum(seconds) // 120.0)) + 1
    seconds[due] += 15.0
    pauses = find_pauses(seconds)
    assert pauses.count == len(due)
    assert pauses.seconds.sum() == pytest.approx(15.0 * len(due), rel=0.03)


def test_a_pause_that_is_spread_over_rows_is_one() -> None:
    """As between two sampled points that are far apart."""
    seconds = steps()
    for row in range(100, 1000, 150):
        seconds[row : row + 3] += 5.0
    pauses = find_pauses(seconds)
    assert pauses.count == 6
    assert pauses.seconds.sum() == pytest.approx(90, rel=0.02)


def test_what_later_pauses_take_more_is_no_pause() -> None:
    seconds = steps()
    seconds[99::100] += np.linspace(11.0, 27.0, 10)
    pauses = find_pauses(seconds)
    assert pauses.is_longer
    assert pauses.first_seconds == pytest.approx(12.8, abs=0.1)
    assert pauses.last_seconds == pytest.approx(25.2, abs=0.1)
    assert pauses.seconds.sum() == pytest.approx(11 + 9 * 12.8, abs=0.5)


def test_two_evaluations_are_pauses_where_their_results_were_written() -> None:
    seconds = steps()
    seconds[[400, 700, 850]] += [90.0, 110.0, 40.0]
    pauses = find_pauses(seconds, np.array([400, 699]))
    assert pauses.count == 2
    assert pauses.seconds.sum() == pytest.approx(200, rel=0.01)
    assert pauses.seconds[850] == 0
    assert find_pauses(seconds, np.arange(0, 1000, 10)).count == 0
    assert find_pauses(seconds).count == 0


@pytest.mark.parametrize("rows", [[100, 130, 700, 720, 960], [500], [100, 200, 300]])
def test_single_slow_steps_are_no_pauses(rows: list[int]) -> None:
    seconds = steps()
    seconds[rows] += 20.0
    assert find_pauses(seconds).count == 0


@pytest.mark.parametrize("seconds", [np.zeros(0), np.ones(5), np.zeros(100), steps()])
def test_a_run_without_pauses_has_none(seconds: np.ndarray) -> None:
    pauses = find_pauses(seconds)
    assert (pauses.count, pauses.seconds.sum(), len(pauses.seconds)) == (0, 0.0, len(seconds))


def test_a_running_median_keeps_a_jump_where_it_is() -> None:
    values = np.repeat([1.0, 2.0], 50)
    np.testing.assert_array_equal(running_median(values, 25), values)
