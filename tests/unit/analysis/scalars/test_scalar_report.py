"""What is said of a run without records: onset, seconds, other scalars, and how sure that is."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.reader.scalars.scalar_run import run_from_scalars
from tb_slowdown_plugin.reader.scalars.scalar_series import ScalarSeries

STARTED = 1_795_000_000.5


def report_on(seconds: np.ndarray, every: int = 10, **scalars: np.ndarray) -> Report:
    """Of points that are so many steps apart; seconds are those between two points."""
    time = STARTED + np.cumsum(seconds)
    step = every * np.arange(len(seconds))
    scalars = {"loss": np.ones(len(seconds)), **scalars}
    run = run_from_scalars(
        "run", [ScalarSeries("run", tag, step, time, value) for tag, value in scalars.items()]
    )
    assert run is not None
    account = account_for(run)
    booked = account.healthy_per_step + sum(account.lost_per_step.values())
    np.testing.assert_allclose(booked, run.steps.period_seconds)
    return account.report


def steps(rows: int = 600, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(1.0, 0.02, rows)


def test_a_jump() -> None:
    seconds = steps(601)
    seconds[1:401] /= seconds[1:401].mean()
    seconds[401:] *= 2.5 / seconds[401:].mean()
    report = report_on(seconds)
    assert report.verdict == "slowdown"
    assert report.scalars is not None
    assert report.scalars.onset_step == 4010
    assert report.scalars.times_as_long == pytest.approx(2.5, rel=0.01)
    assert report.lost_seconds == pytest.approx(300, rel=0.02)
    assert report.wall_seconds == pytest.approx(seconds[1:].sum(), rel=1e-6)
    assert report.healthy_step_seconds == pytest.approx(0.1, rel=0.01)
    assert (
        report.headline
        == "5 min 0 s of 15 min 0 s lost (33%) since step 4,010. The cause wasn't measured."
    )
    assert report.unexplained is not None
    assert report.unexplained.text == (
        "Since step 4,010 a step takes 250 ms, before 100 ms (2.5 times as long)."
    )
    assert report.causes == ()
    assert report.suspects == ()


def test_growth_begins_where_its_curve_leaves_the_level() -> None:
    seconds = steps()
    seconds[360:] *= 1 + 2 * np.linspace(0, 1, 240) ** 1.5
    report = report_on(seconds)
    assert report.scalars is not None
    assert report.scalars.onset_step == pytest.approx(3600, abs=0.05 * 6000)
    assert report.unexplained is not None
    assert report.unexplained.pattern == "drift"


def test_what_passes_again_has_an_end() -> None:
    seconds = steps()
    seconds[200:320] *= 3.0
    report = report_on(seconds)
    assert report.verdict == "slowdown"
    assert report.unexplained is not None
    assert report.unexplained.text.startswith("In steps 2,000")


def test_a_slow_start_is_named_without_its_reason() -> None:
    seconds = steps()
    seconds[1] += 400.0
    report = report_on(seconds)
    assert report.verdict == "slow_start"
    (cause,) = report.causes
    assert (cause.cause, cause.confidence, cause.advice) == ("warm_up", "low", ())
    assert "wasn't measured" in cause.summary


def test_few_points_are_not_enough() -> None:
    report = report_on(steps(6))
    assert report.verdict == "not_enough_steps"
    assert report.headline == "Not enough points yet: 5 of about 12."


def test_a_level_that_wanders_by_a_little_is_healthy() -> None:
    seconds = steps()
    seconds[200:] *= 1.04
    assert report_on(seconds).verdict == "healthy"


def test_pauses_that_get_longer_are_lost() -> None:
    seconds = steps()
    seconds[59::60] += np.linspace(22.0, 54.0, 10)
    report = report_on(seconds)
    assert report.scalars is not None
    assert report.scalars.pauses == 10
    assert any(note.startswith("The pauses get longer: from ") for note in report.notes)
    assert report.lost_seconds > 100


def test_nothing_is_said_to_be_measured() -> None:
    report = report_on(steps())
    assert (report.source, report.judged) == ("scalars", "partly")
    assert report.signals[0].status == "partly"
    assert {each.status for each in report.signals[1:]} == {"unavailable"}
    assert {each.reason for each in report.signals[1:]} == {
        "this run has no records of the monitor"
    }
