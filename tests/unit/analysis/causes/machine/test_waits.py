"""Lock and queue wait is one row, with its line and what was seen."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
LINE = "take (train.py:14)"
HELD = np.where(np.arange(SIZE) % 20 == 19, 0.300, 0.0)


def slow(row, **numbers):
    return row + 1, Fact("slow_step", LINE, {"ago": 1.0, "writes": 0.0, **numbers})


def report_of(make_run, events, cpu=0.010):
    return account_for(make_run(0.010 + HELD, events=events, process_cpu=np.full(SIZE, cpu))).report


def test_steps_that_wait_are_one_row_with_the_line(make_run):
    events = [slow(row, waits_inside=1.0) for row in range(39, SIZE - 1, 40)]
    report = report_of(make_run, events)
    (cause,) = report.causes
    assert (cause.cause, report.verdict) == ("python_overhead", "slowdown")
    assert cause.lost_seconds == pytest.approx(HELD.sum(), rel=0.02)
    assert "waiting for a lock or a queue in take (train.py:14)" in report.headline
    assert "every 20 steps, 300 ms each time" in cause.summary
    assert "9 slow steps were in that line when sampled." in cause.evidence
    assert (cause.place.file, cause.place.line) == ("train.py", 14)


def test_a_line_of_the_program_waits_only_where_the_process_is_idle(make_run):
    events = [slow(row, waits_alone=1.0) for row in range(39, SIZE - 1, 40)]
    assert [cause.cause for cause in report_of(make_run, events).causes] == ["python_overhead"]
    assert not report_of(make_run, events, cpu=0.3).causes


def test_a_pause_of_the_program_is_told_as_one(make_run):
    events = [slow(row, waits_paused=1.0) for row in range(39, SIZE - 1, 40)]
    report = report_of(make_run, events, cpu=0.3)
    (cause,) = report.causes
    assert "a pause in take (train.py:14)" in report.headline
    assert cause.summary == (
        "The training thread sleeps until a time has passed, as in `time.sleep`, in take "
        "(train.py:14) every 20 steps, 300 ms each time."
    )
    assert cause.advice[0].text.startswith("Remove the pause.")


@pytest.mark.parametrize(("beside", "is_told"), [(14.0, True), (8.0, False)])
def test_the_thread_that_is_waited_for_is_told_where_it_stands_out(make_run, beside, is_told):
    numbers = {"samples": 21.0, "of": 30.0, "waits_inside": 20.0}
    numbers |= {"beside:collect (env.py:124)": beside, "beside:log (env.py:9)": 3.0}
    run = make_run(
        np.full(SIZE, 0.1),
        events=[(50, Fact("python_stack", LINE, numbers))],
        process_cpu=np.full(SIZE, 0.01),
    )
    (cause,) = account_for(run).report.causes
    said = (
        "In 14 of 20 of these samples another thread of the program was in `collect (env.py:124)`."
    )
    assert (said in cause.evidence) is is_told
    where = "in `collect (env.py:124)`" if is_told else "find where the queue or the lock is made"
    assert cause.advice[0].where == where
    assert cause.place is not None
    assert cause.place.line == 14


@pytest.mark.parametrize(("late", "is_whole"), [(24.0, True), (15.0, False)])
def test_a_jump_that_is_in_the_line_that_waits_is_its_own(make_run, late, is_whole):
    """Samples see it wait in 12 of 30, and be there in 24: the ends of a wait are missed."""
    period = np.where(np.arange(SIZE) < 200, 0.010, 0.110)
    events = [
        (190, Fact("python_stack", "main (train.py:20)", {"samples": 30.0, "of": 30.0})),
        (390, Fact("python_stack", LINE, {"samples": late, "of": 30.0, "waits_inside": 12.0})),
        (390, Fact("python_stack", "main (train.py:20)", {"samples": 30.0 - late, "of": 30.0})),
    ]
    report = account_for(make_run(period, events=events, process_cpu=0.9 * period)).report
    assert report.causes[0].place.line == 14
    assert (report.unexplained_seconds < 0.05 * 20.0) is is_whole
    assert report.causes[0].lost_seconds == pytest.approx(20.0 if is_whole else 8.8, rel=0.05)


def test_samples_are_told_with_how_many_there_were(make_run):
    numbers = {"samples": 21.0, "of": 30.0, "waits_inside": 20.0}
    period = np.full(SIZE, 0.1)
    run = make_run(
        period, events=[(50, Fact("python_stack", LINE, numbers))],
        process_cpu=np.full(SIZE, 0.01),
    )  # fmt: skip
    (cause,) = account_for(run).report.causes
    assert cause.lost_seconds == pytest.approx(36.0)
    assert "In 20 of 30 samples of its stack it waited there." in cause.evidence
