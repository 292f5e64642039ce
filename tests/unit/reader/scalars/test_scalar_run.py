"""Points of scalars become steps: grids, resumes, clocks, writers."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.reader.scalars.scalar_run import run_from_scalars
from tb_slowdown_plugin.reader.scalars.scalar_series import ScalarSeries
from tb_slowdown_plugin.records.run import Run

STARTED = 1_795_000_000.5


def series(step, time, value=None, *, tag="loss", writer="run"):
    value = np.ones(len(step)) if value is None else value
    times = STARTED + np.asarray(time, float)
    return ScalarSeries(writer, tag, np.asarray(step, np.int64), times, np.asarray(value, float))


def drawn(*found: ScalarSeries) -> Run:
    run = run_from_scalars("run", found)
    assert run is not None
    return run


def wall(run: Run) -> float:
    return run.steps_per_row * float(run.steps.period_seconds.sum())


def test_rows_stand_for_the_steps_between_points() -> None:
    run = drawn(series(np.arange(99, 1000, 100), 25.0 * np.arange(10)))
    assert (run.steps_per_row, len(run.steps)) == (100, 9)
    assert run.steps.number.tolist() == list(range(199, 1000, 100))
    np.testing.assert_allclose(run.steps.period_seconds, 0.25)
    assert run.steps.ended[-1] == STARTED + 225.0
    assert run.drawn_from.unit == "step"


def test_points_that_are_missing_leave_the_mean_of_their_steps() -> None:
    step = np.delete(np.arange(0, 500, 10), [20, 21, 22])
    run = drawn(series(step, 0.1 * step))
    assert len(run.steps) == 49
    np.testing.assert_allclose(run.steps.period_seconds, 0.1)


def test_a_random_sample_of_points_keeps_the_wall_time() -> None:
    random = np.random.default_rng(1)
    seconds = np.where(np.arange(100_000) < 60_000, 0.1, 0.2)
    ended = np.cumsum(seconds)
    step = np.sort(random.choice(100_000, 1000, replace=False))
    run = drawn(series(step, ended[step]))
    assert 600 < len(run.steps) < 2500
    assert wall(run) == pytest.approx(ended[step[-1]] - ended[step[0]], rel=0.01)
    middle = np.searchsorted(run.steps.number, 60_000)
    np.testing.assert_allclose(run.steps.period_seconds[: middle - 2], 0.1)
    np.testing.assert_allclose(run.steps.period_seconds[middle + 3 :], 0.2)


def test_a_run_that_was_resumed_has_a_session_more_and_a_gap_without_work() -> None:
    step = [*range(0, 100), *range(60, 200)]
    time = [*np.arange(100), *(500 + np.arange(140))]
    run = drawn(series(step, time))
    assert [session.first_row for session in run.sessions] == [0, 99]
    assert wall(run) == pytest.approx(99 + 139)
    (gap,) = run.events
    assert (gap.row, gap.what.seconds) == (99, 401.0)
    assert run.drawn_from.stopped_seconds == 401.0


def test_processes_that_write_side_by_side_are_one() -> None:
    """Eight ranks that log the same scalar into one folder, each in a file of its own."""
    step = np.tile(np.arange(100), 8)
    random = np.random.default_rng(2)
    run = drawn(series(step, 1.0 * step + random.uniform(0, 1.5, 800)))
    assert wall(run) == pytest.approx(99, abs=2)
    assert len(run.sessions) == 1


def test_a_clock_that_is_set_back_is_a_gap_and_no_resume() -> None:
    time = np.arange(200.0)
    time[120:] -= 3600
    run = drawn(series(np.arange(200), time))
    assert run.steps.number.tolist() == [*range(1, 120), *range(121, 200)]
    assert wall(run) == pytest.approx(198)


def test_a_single_long_gap_is_a_program_that_stood_still() -> None:
    time = np.arange(200.0)
    time[120:] += 8 * 3600
    run = drawn(series(np.arange(200), time))
    assert wall(run) == pytest.approx(198)
    assert run.drawn_from.stopped_seconds == pytest.approx(8 * 3600 + 1)


def test_wall_times_in_whole_seconds_make_longer_rows() -> None:
    time = np.floor(np.cumsum(np.full(2000, 0.3)))
    run = drawn(series(np.arange(2000), time - 0.5))
    assert run.steps_per_row >= 64
    np.testing.assert_allclose(run.steps.period_seconds, 0.3, rtol=0.06)


def test_wall_times_in_bunches_make_longer_rows() -> None:
    """A writer that gives ten points in a row the time of the tenth."""
    time = np.repeat(np.arange(200.0), 10) + np.tile(np.arange(10) * 1e-6, 200)
    run = drawn(series(np.arange(2000), time))
    assert run.steps_per_row >= 16
    assert run.steps.period_seconds.std() < 0.35 * 0.1
    assert run.steps.period_seconds.mean() == pytest.approx(0.1, rel=0.02)


def test_the_densest_scalar_of_training_counts() -> None:
    run = drawn(
        series(np.arange(5), np.arange(5.0), tag="epoch_loss", writer="run/train"),
        series(np.arange(90), np.arange(90.0), tag="loss", writer="run/validation"),
        series(np.arange(50), np.arange(50.0), tag="batch_loss", writer="run/train"),
    )
    assert (run.drawn_from.tag, run.drawn_from.writer) == ("batch_loss", "run/train")


def test_an_epoch_is_a_step_where_nothing_is_denser() -> None:
    run = drawn(series(np.arange(20), 60 * np.arange(20.0), tag="epoch_loss"))
    assert (run.drawn_from.unit, run.steps_per_row) == ("epoch", 1)


def test_a_rate_counts_where_all_points_were_written_at_once() -> None:
    step = np.arange(0, 5000, 100)
    rate = np.where(step < 2500, 10.0, 5.0)
    at_once = np.full(50, 3.0)
    run = drawn(series(step, at_once), series(step, at_once, rate, tag="global_step/sec"))
    assert (run.drawn_from.clock, run.drawn_from.tag) == ("values", "global_step/sec")
    assert run.steps.period_seconds[[0, -1]].tolist() == [0.1, 0.2]
    assert wall(run) == pytest.approx(25 * 100 * 0.1 + 25 * 100 * 0.2)


def test_a_rate_does_not_count_beside_wall_times_of_the_training() -> None:
    step = np.arange(0, 500, 5)
    wrong = np.full(100, 0.01)
    run = drawn(series(step, 0.1 * step), series(step, 0.1 * step, wrong, tag="steps_per_sec"))
    assert (run.drawn_from.clock, run.drawn_from.tag) == ("wall_times", "loss")


def test_other_scalars_are_signals_at_the_rows() -> None:
    step = np.arange(0, 300, 10)
    run = drawn(
        series(step, 1.0 * step),
        series([0, 150], [0.0, 150.0], [32.0, 64.0], tag="batch_size"),
        series(step, 1.0 * step, tag="examples/s"),
    )
    assert list(run.signals.values) == ["scalar:batch_size"]
    sizes = run.signals.values["scalar:batch_size"]
    assert (sizes[:14].tolist(), sizes[14:].tolist()) == ([32.0] * 14, [64.0] * 15)


def test_two_points_are_no_run() -> None:
    assert run_from_scalars("run", [series([0, 10], [0.0, 1.0])]) is None


@pytest.mark.parametrize("step", [[0, 0, 0, 0], [5, 4, 3, 2]])
def test_points_without_a_step_between_them_make_a_run_without_steps(step: list[int]) -> None:
    run = drawn(series(step, np.arange(4.0)))
    assert len(run.steps) == 0


def test_hostile_points_make_a_bounded_run() -> None:
    step = [0, 1, 2, 1 << 48, (1 << 48) + 1, -(1 << 48)]
    run = drawn(series(step, [0.0, 1.0, 2.0, np.inf, np.nan, 1e10]))
    assert len(run.steps) <= 1 << 20
