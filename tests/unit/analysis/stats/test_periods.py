"""Periods, epochs and events: what comes back, and what only seems to."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.stats.events import (
    excess_of_first_pass,
    find_events,
    find_growth,
    is_at_boundaries,
)
from tb_slowdown_plugin.analysis.stats.periods import find_repeats


def residual(count, sigma=0.05, seed=0):
    return np.random.default_rng(seed).normal(0, sigma, count)


@pytest.mark.parametrize(("period", "phase"), [(2, 1), (7, 3), (40, 39), (300, 17)])
def test_a_fixed_period_is_found_with_its_phase(period, phase):
    excess = residual(6000)
    excess[phase::period] += 2.0
    (repeat,) = find_repeats(excess, 0.05, np.full(6000, 0.01))
    assert repeat.period == period
    assert repeat.rows[0] == phase
    assert len(repeat.rows) == len(range(phase, 6000, period))


def test_a_period_that_wanders_is_found_by_its_gaps():
    random = np.random.default_rng(1)
    rows = np.cumsum(random.integers(90, 111, 100))
    excess = residual(rows[-1] + 50)
    excess[rows] += 3.0
    (repeat,) = find_repeats(excess, 0.05, np.full(len(excess), 0.01))
    assert repeat.period == pytest.approx(100, rel=0.05)
    assert not repeat.by_clock
    assert set(rows) <= set(repeat.rows)


def test_a_period_of_the_clock_is_told_in_seconds():
    random = np.random.default_rng(2)
    seconds = 0.01 * np.exp(random.normal(0, 0.05, 20_000)) * np.linspace(1, 6, 20_000)
    minutes = np.floor(np.cumsum(seconds) / 5.0)
    rows = np.flatnonzero(np.diff(minutes, prepend=0))
    excess = residual(20_000)
    excess[rows] += 3.0
    (repeat,) = find_repeats(excess, 0.05, seconds)
    assert repeat.by_clock
    assert repeat.period == pytest.approx(5.0, rel=0.05)


def test_random_stalls_have_no_period():
    for seed in range(10):
        random = np.random.default_rng(seed)
        excess = residual(5000, seed=seed)
        excess[random.random(5000) < 0.01] += 3.0
        assert find_repeats(excess, 0.05, np.full(5000, 0.01)) == []


def test_an_epoch_stall_includes_the_first_epoch():
    step = 0.01 * np.exp(residual(2000))
    epochs = np.arange(0, 2000, 200)
    step[epochs] += 0.5
    (finding,) = diagnose(step, epochs=epochs).findings
    assert finding.pattern == "epoch_boundary"
    assert finding.lost_seconds == pytest.approx(5.0, rel=0.02)


def test_a_short_period_that_meets_the_epochs_is_a_period():
    step = 0.01 * np.exp(residual(2000))
    step[::50] += 0.2
    (finding,) = diagnose(step, epochs=np.arange(0, 2000, 200)).findings
    assert finding.pattern == "periodic"
    assert finding.numbers["period_steps"] == 50


def test_a_slow_first_pass_is_warm_up():
    wait = np.full(1000, 0.001)
    wait[:250] = 0.011
    epochs = np.array([0, 250, 500, 750])
    diagnosis = diagnose(0.01 * np.exp(residual(1000)) + wait, {"input_wait": wait}, epochs=epochs)
    (finding,) = diagnosis.findings
    assert (finding.source, finding.pattern, finding.rows) == ("input_wait", "warm_up", (0, 249))
    assert finding.lost_seconds == pytest.approx(2.5)


def test_the_first_pass_is_split_in_proportion():
    column = np.array([4.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    early = excess_of_first_pass(column, np.array([0, 2, 4]))
    rest = column - early
    np.testing.assert_allclose(early, [8 / 3, 4 / 3, 0, 0, 0, 0])
    np.testing.assert_allclose(early + rest, column)


def test_waiting_at_each_epoch_is_an_epoch_boundary():
    wait = np.zeros(1000)
    wait[::100] = 0.4
    step = 0.01 * np.exp(residual(1000))
    (finding,) = diagnose(
        step + wait, {"input_wait": wait}, epochs=np.arange(0, 1000, 100)
    ).findings
    assert (finding.source, finding.pattern) == ("input_wait", "epoch_boundary")
    assert finding.lost_seconds == pytest.approx(4.0)


def test_even_waiting_is_not_at_boundaries():
    assert not is_at_boundaries(np.ones(1000), np.arange(0, 1000, 100))
    assert not is_at_boundaries(np.ones(30), np.arange(0, 30, 3))


def test_events_that_take_longer_each_time_grow():
    column = np.zeros(1000)
    column[::25] = np.linspace(1, 3, 40) * np.exp(residual(40))
    growth = find_growth(column, find_events(column))
    assert growth.numbers["growth_fraction"] == pytest.approx(2, rel=0.1)
    assert growth.lost_per_step.sum() == pytest.approx(40, rel=0.1)


def test_events_alike_do_not_grow():
    for seed in range(20):
        column = np.zeros(1000)
        column[::25] = np.exp(residual(40, 0.3, seed))
        assert find_growth(column, find_events(column)) is None


def test_steps_after_a_long_one_are_a_group_of_their_own():
    """They are slower by a part of a step, and must not make the long one look odd."""
    excess = residual(4000)
    excess[80::80] += 30.0
    excess[81::80] += 0.3
    (repeat,) = find_repeats(excess, 0.05, np.full(4000, 0.01))
    assert repeat.period == 80
    assert [int(rows[-1]) % 80 for rows in repeat.groups] == [0, 1]
    assert len(repeat.rows) == sum(len(rows) for rows in repeat.groups)
