"""Unexplained time has a step at which it begins, and the end of a run a figure of its own."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.causes import Unexplained
from tb_slowdown_plugin.analysis.report_types.live import Recent

SIZE = 600


def stall(first, last, seconds):
    lost = np.zeros(SIZE)
    lost[first : last + 1] = seconds
    return lost


def told(make_run, find, judge, *lost, pattern="level_shift", **numbers):
    run = make_run(np.full(SIZE, 0.010) + sum(lost), numbers=np.arange(100, 100 + SIZE))
    findings = [find("core", pattern, each, **numbers) for each in lost]
    return judge(run, *findings).report.unexplained


def test_a_jump_has_its_step_and_what_a_step_takes_more(make_run, find, judge):
    assert told(make_run, find, judge, stall(400, 599, 0.004), stall(10, 20, 0.001)) == Unexplained(
        "level_shift",
        (500, 699),
        "Since step 500 a step takes 3.97 ms more, and no measured signal accounts for it.",
    )


def test_a_stretch_that_is_over_has_both_ends(make_run, find, judge):
    found = told(make_run, find, judge, stall(200, 299, 0.004))
    assert found.steps == (300, 399)
    assert found.text.startswith("In steps 300\u2013399 a step takes 4 ms more, and no ")


def test_growth_has_the_step_at_which_it_begins(make_run, find, judge):
    found = told(make_run, find, judge, np.linspace(0, 0.01, SIZE), pattern="drift")
    assert (found.pattern, found.steps) == ("drift", (101, 699))
    assert found.text.startswith("Since step 101 steps keep getting slower")


def test_single_steps_and_a_slow_start_have_no_onset(make_run, find, judge):
    assert told(make_run, find, judge, stall(300, 300, 1.0), pattern="one_off") is None
    assert told(make_run, find, judge, stall(0, 99, 0.01), at_start=1.0) is None
    assert told(make_run, find, judge) is None


def test_the_end_of_a_run_is_the_median_of_its_last_twentieth(make_run):
    period = np.append(np.full(380, 0.010), np.full(20, 0.014))
    period[-1] = 9.0
    assert account_for(make_run(period)).report.recent == Recent(0.014, 20)
    assert account_for(make_run(np.full(2000, 0.010))).report.recent == Recent(0.010, 100)
    assert account_for(make_run(np.full(99, 0.010))).report.recent is None
