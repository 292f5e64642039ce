"""Labels of change points: one at a step for each cause, of the seconds that are drawn there."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for

SIZE = 600


def stall(first, last, seconds):
    lost = np.zeros(SIZE)
    lost[first : last + 1] = seconds
    return lost


def run_of(make_run, lost):
    return make_run(np.full(SIZE, 0.010) + lost, numbers=np.arange(100, 100 + SIZE))


def test_two_findings_of_one_cause_at_one_step_have_one_label(make_run, find, judge):
    long, short = stall(300, 499, 0.004), stall(300, 399, 0.001)
    account = judge(
        run_of(make_run, long + short),
        find("core", "level_shift", long),
        find("core", "level_shift", short),
    )
    # 4 ms in each of 200 steps and 1 ms in half of them.
    assert account.change_points == (
        (300, "Unexplained: +4.5 ms per step from here to step 599"),
    )  # fmt: skip


def test_a_first_part_that_is_slow_ends(make_run, find, judge):
    slow = stall(0, 99, 0.004)
    account = judge(run_of(make_run, slow), find("core", "level_shift", slow, at_start=1.0))
    assert account.change_points == ((0, "Unexplained: +4 ms per step up to step 199"),)


def test_no_label_where_the_cause_took_as_much_before(make_run, find, judge):
    each_tenth = np.zeros(SIZE)
    each_tenth[::10] = 0.060
    shift = stall(300, SIZE - 1, 1e-5)
    account = judge(
        run_of(make_run, each_tenth + shift),
        find("core", "periodic", each_tenth),
        find("core", "level_shift", shift),
    )
    assert account.change_points == ()


def test_the_baseline_is_told_in_steps_and_not_in_rows(make_run):
    period = np.full(SIZE, 0.010) + stall(400, SIZE - 1, 0.01)
    numbers = np.append(np.arange(300), np.arange(800, 800 + SIZE - 300))
    report = account_for(make_run(period, numbers=numbers)).report
    assert report.baseline == (
        "the fastest level sustained for at least 5% of the run (steps 0\u2013899); longer steps "
        "add 2 s to that, which doesn't count as lost"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        # A first batch of 4 s says nothing of what the others wait.
        (np.append(4.0, np.full(299, 0.0004)), np.full(300, 0.2), "0.4 ms per step before step 400 "
                                                                  "and "
                                                                  "200 ms since then (medians)"),
        (np.zeros(300), np.tile([0.09, 0.0, 0.0], 100), "0 ms per step before step 400 and 30 ms "
                                                        "since then (means)"),
        (np.full(300, 0.0163), np.full(300, 0.0162), "16.2 ms per step on average in steps "
                                                     "400\u2013699"),
    ],
)  # fmt: skip
def test_before_and_after_are_one_statistic_and_differ(make_run, find, judge, before, after, words):
    wait = np.concatenate([before, after])
    lost = np.append(np.zeros(300), after)
    run = make_run(0.010 + wait, numbers=np.arange(100, 700), accounts={"input_wait": wait})
    (cause,) = judge(run, find("input_wait", "level_shift", lost, rows=(300, 599))).report.causes
    assert cause.evidence[0] == f"Input wait is {words}."
