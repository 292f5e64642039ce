"""The verdict fits the seconds that stand beside it, and a pace that comes back is no slowdown."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.ledger.findings import AT_START, make_finding
from tb_slowdown_plugin.analysis.ledger.verdict import find_wandering, verdict_on
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.text.headline import headline

SIZE = 600
ROWS = 1000


def at_start(last: int, after: float):
    lost = np.where(np.arange(ROWS) < last, 0.003, 0.0)
    return make_finding(
        "core", "level_shift", lost, "high", {AT_START: 1.0, "after_seconds": after}
    )


def later(after: float):
    lost = np.where(np.arange(ROWS) > 700, 0.002, 0.0)
    return make_finding("core", "level_shift", lost, "high", {"after_seconds": after})


def test_a_rise_back_to_the_first_pace_is_wandering() -> None:
    start, back = at_start(400, 0.013), later(0.012)
    assert find_wandering([start, back], ROWS) == (start, back)


def test_a_rise_beyond_the_first_pace_is_a_slowdown() -> None:
    assert find_wandering([at_start(400, 0.013), later(0.014)], ROWS) == ()


def test_a_short_beginning_is_warm_up_and_no_pace() -> None:
    assert find_wandering([at_start(150, 0.013), later(0.012)], ROWS) == ()


def test_without_a_slow_beginning_nothing_wanders() -> None:
    assert find_wandering([later(0.012)], ROWS) == ()


@pytest.mark.parametrize(
    ("diagnosed", "warm_up", "named", "unexplained", "expected"),
    [
        ("healthy", 0.0, 0.0, 0.0, "healthy"),
        ("healthy", 3.0, 0.0, 9.0, "healthy"),
        ("healthy", 0.0, 0.0, 10.0, "slowdown"),
        ("slowdown", 0.0, 0.0, 5.0, "slowdown"),
        ("slowdown", 0.0, 0.0, 4.9, "healthy"),
        ("slowdown", 0.0, 5.0, 0.0, "slowdown"),
        ("slow_start", 30.0, 0.0, 0.0, "slow_start"),
        ("slowdown", 30.0, 0.0, 6.0, "slow_start"),
        ("slowdown", 30.0, 0.0, 6.1, "slowdown"),
        ("slow_start", 30.0, 0.0, 9.0, "slow_start"),
        ("slow_start", 30.0, 0.0, 20.0, "slowdown"),
        ("slowdown", 30.0, 1.0, 0.0, "slowdown"),
        ("slowdown", 5.0, 0.0, 0.0, "healthy"),
        ("not_enough_steps", 60.0, 0.0, 20.0, "not_enough_steps"),
    ],
)
def test_of_a_hundred_seconds(diagnosed, warm_up, named, unexplained, expected):
    assert (
        verdict_on(
            diagnosed,
            wall_seconds=100.0,
            warm_up_seconds=warm_up,
            named_seconds=named,
            unexplained_seconds=unexplained,
        )
        == expected
    )


def test_a_slow_start_with_a_little_noise_is_still_one(make_run, find, judge):
    first = np.where(np.arange(SIZE) < 100, 0.090, 0.0)
    noise = np.where(np.arange(SIZE) >= 500, 0.005, 0.0)
    run = make_run(0.010 + first + noise, accounts={"input_wait": first})
    report = judge(
        run, find("input_wait", "warm_up", first), find("core", "level_shift", noise)
    ).report

    assert report.verdict == "slow_start"
    assert report.headline == "Slow start: warm-up took 9 s of 15.5 s; 500 ms more is unexplained."


def test_stalls_that_nobody_explains_are_no_healthy_run(make_run):
    period = np.full(4_000, 0.010)
    period[np.random.default_rng(1).choice(4_000, 200, replace=False)] += 0.200
    report = account_for(make_run(period)).report

    assert report.causes == ()
    assert report.unexplained_seconds == pytest.approx(40.0, rel=0.02)
    assert report.verdict == "slowdown"
    assert report.headline == "40.0 s of 1 min 20 s lost (50%), most of it unexplained."


def test_an_empty_loop_is_healthy_and_says_why(make_run):
    random = np.random.default_rng(0)
    period = random.choice([1e-6, 2e-6, 3e-6], 40_000)
    period[random.random(40_000) < 0.005] += 0.002
    report = account_for(make_run(period)).report

    assert (report.verdict, report.causes, report.unexplained_seconds) == ("healthy", (), 0.0)
    assert report.notes == (
        "A step takes 12.6 \u00b5s on average: slow steps are not told apart from what the "
        "operating system does; from 0.1 ms on they are.",
    )


def test_nothing_but_warm_up_has_its_sentence():
    assert (
        headline(
            "slow_start",
            steps=800,
            wall_seconds=12.0,
            lost=[("warm-up", 10.0)],
            unexplained_seconds=0.01,
        )
        == "Slow start: warm-up took 10.0 s of 12.0 s. No slowdown after that."
    )


def test_a_slow_start_beside_other_processes_says_both():
    text = headline(
        "slow_start",
        steps=800,
        wall_seconds=12.0,
        lost=[("warm-up", 3.0)],
        external=[("a busy machine", 4.0)],
        unexplained_seconds=0.0,
    )
    assert text == "Slow start: warm-up took 3 s of 12.0 s; 4 s more went to a busy machine."
