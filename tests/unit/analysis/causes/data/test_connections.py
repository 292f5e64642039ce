"""Waiting for another process is one row, with its line, beside threads that compute, too."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
LINE = "receive (train.py:21)"


def report_of(make_run, waits, cpu=0.08):
    numbers = {"samples": waits, "of": 30.0, "waits_outside": waits}
    events = [(50, Fact("python_stack", LINE, numbers))]
    period = np.full(SIZE, 0.1)
    return account_for(make_run(period, events=events, process_cpu=np.full(SIZE, cpu))).report


@pytest.mark.parametrize(("cpu", "seconds"), [(0.08, 16.0), (0.01, 36.0)])
def test_it_is_communication_by_samples_or_by_the_clock_of_an_idle_process(make_run, cpu, seconds):
    report = report_of(make_run, 12.0, cpu)
    (cause,) = report.causes
    assert (cause.cause, report.verdict) == ("communication", "slowdown")
    assert cause.lost_seconds == pytest.approx(seconds)
    assert "waiting for another process in receive (train.py:21)" in report.headline
    assert "In 12 of 30 samples of its stack it waited there." in cause.evidence
    assert (cause.place.file, cause.place.line) == ("train.py", 21)


def test_less_than_a_pipeline_may_be_waited_for_is_none(make_run):
    assert report_of(make_run, 4.0).causes == ()


def test_slow_steps_that_wait_for_it_are_known_by_one_look_each(make_run):
    held = np.where(np.arange(SIZE) % 20 == 19, 0.300, 0.0)
    looks = [
        (row + 1, Fact("slow_step", LINE, {"ago": 1.0, "writes": 0.0, "waits_outside": 1.0}))
        for row in range(39, SIZE - 1, 40)
    ]
    run = make_run(0.010 + held, events=looks, process_cpu=np.full(SIZE, 0.3))
    (cause,) = account_for(run).report.causes
    assert cause.cause == "communication"
    assert cause.lost_seconds == pytest.approx(held.sum(), rel=0.02)


def test_each_line_that_waits_is_a_row_and_what_is_too_little_goes_with_the_largest(
    make_run, find, judge
):
    lost = np.full(SIZE, 0.010)
    report = judge(
        make_run(np.full(SIZE, 0.1)),
        find("connection:ask (train.py:3)", "flat", lost),
        find(f"connection:{LINE}", "flat", 2 * lost),
        find("connection:ping (train.py:9)", "flat", 0.1 * lost),
    ).report
    assert [(cause.place.line, cause.rank) for cause in report.causes] == [(21, 1), (3, 2)]
    assert [cause.lost_seconds for cause in report.causes] == pytest.approx([8.4, 4.0])
