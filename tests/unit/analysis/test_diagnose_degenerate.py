"""Input that is hardly a run: each gets the verdict that is stated here, and nothing is raised."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.report_builder.account import account_for

COUNT = 600
QUIET = 0.01 * np.exp(np.random.default_rng(0).normal(0, 0.03, COUNT))


def with_values(**values):
    """Quiet steps, some of them replaced: `at_30=-1.0`."""
    step = QUIET.copy()
    for place, value in values.items():
        step[int(place.removeprefix("at_"))] = value
    return step


CASES = {
    "no step": (np.empty(0), "not_enough_steps"),
    "one step": (QUIET[:1], "not_enough_steps"),
    "ten steps": (QUIET[:10], "not_enough_steps"),
    "ten steps, one of them an hour": (np.append(QUIET[:9], 3600.0), "not_enough_steps"),
    "times that are not known": (with_values(at_3=np.nan, at_90=np.inf), "healthy"),
    "no time known": (np.full(COUNT, np.nan), "not_enough_steps"),
    "zero times": (with_values(at_5=0.0, at_6=0.0, at_300=0.0), "healthy"),
    "nothing but zeros": (np.zeros(COUNT), "not_enough_steps"),
    "negative times": (with_values(at_50=-1.0, at_51=-3600.0), "healthy"),
    "nothing but negative times": (np.full(COUNT, -1.0), "not_enough_steps"),
    "a clock that jumps an hour ahead": (with_values(at_300=3600.0), "slowdown"),
    "a clock that jumps ahead and back": (with_values(at_300=3600.0, at_301=-3600.0), "slowdown"),
    "one long pause at the end": (with_values(at_599=3600.0), "slowdown"),
    "one long pause at the start": (with_values(at_0=3600.0), "slow_start"),
    "a run that is one pause": (np.append(np.full(COUNT - 1, 1e-9), 3600.0), "slowdown"),
    "every other step takes no time": (np.where(np.arange(COUNT) % 2, 0.01, 0.0), "healthy"),
    "times too small for a float": (np.full(COUNT, 5e-324), "healthy"),
    "times that no run has": (np.full(COUNT, 1e300), "healthy"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_verdict_of_arrays(case):
    step, verdict = CASES[case]
    diagnosis = diagnose(step)
    assert diagnosis.verdict == verdict
    booked = diagnosis.healthy_per_step + diagnosis.unexplained_per_step
    for finding in diagnosis.findings:
        booked = booked + finding.lost_per_step
    known = np.where((step >= 0) & np.isfinite(step), step, 0.0)
    np.testing.assert_allclose(booked, known, rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("case", CASES)
def test_the_report_of_a_recording_says_the_same(make_run, case):
    step, verdict = CASES[case]
    report = account_for(make_run(step)).report
    assert report.verdict == verdict
    assert [each.cause for each in report.causes if each.cause != "warm_up"] == []


def test_steps_out_of_order_are_judged_in_the_order_in_which_they_ran(make_run):
    numbers = np.random.default_rng(1).permutation(COUNT)
    period = np.where(np.arange(COUNT) < 300, 0.01, 0.02) * QUIET / 0.01
    report = account_for(make_run(period, numbers=numbers)).report
    assert report.verdict == "slowdown"
    assert report.unexplained_seconds == pytest.approx(3.0, rel=0.05)


def test_streams_that_are_missing_or_empty_change_nothing():
    nothing = np.full(COUNT, np.nan)
    alone = diagnose(QUIET)
    beside = diagnose(
        QUIET,
        {"gc": nothing, "input_wait": np.zeros(COUNT)},
        cpu_seconds=nothing,
        signals={"run_delay_seconds": nothing, "rss_bytes": nothing},
        epochs=[],
        items=nothing,
    )
    assert (alone.verdict, beside.verdict) == ("healthy", "healthy")
    assert beside.ledger == alone.ledger


def test_accounts_longer_than_their_step_take_no_more_than_it():
    diagnosis = diagnose(QUIET, {"gc": np.full(COUNT, 9.0), "checkpoint": np.full(COUNT, 9.0)})
    assert diagnosis.verdict == "slowdown"
    assert sum(diagnosis.ledger.lost.values()) == pytest.approx(QUIET.sum())


def test_a_step_too_short_for_any_clock_is_no_overflow():
    diagnosis = diagnose([0.5, 2e-313], cpu_seconds=[np.nan, 2e-313])
    assert diagnosis.verdict == "not_enough_steps"
    assert diagnosis.ledger.wall_seconds == 0.5
