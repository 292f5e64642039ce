"""The seconds of a stall that is over: a one-off with its place as evidence."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.stalled_runs import STEPS, stalled

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.report.text_report import to_text


def test_the_seconds_of_a_past_stall_are_a_one_off_with_its_place(make_run):
    period = np.full(STEPS, 0.1)
    period[200] = 250.1
    report = account_for(stalled(make_run, period, row=200)).report
    assert report.unexplained_seconds == pytest.approx(250.0, rel=0.01)
    assert report.unexplained.pattern == "one_off"
    assert report.unexplained.steps == (200, 200)
    assert report.unexplained.text == (
        "No step ended for 4 min 10 s before step 200: the training thread was in "
        "`waits_for_lock` (data.py:88), 2 threads in `serve` (data.py:12)."
    )
    assert (
        report.headline.startswith(
            "4 min 10 s of 4 min 50 s lost (86%), most of it to a stall in "
            "`waits_for_lock` (data.py:88)."
        )
        or "to a stall in `waits_for_lock` (data.py:88)" in report.headline
    )
    assert "waits_for_lock" in to_text([report])


def test_seconds_that_an_account_holds_keep_their_cause_and_get_the_place(make_run):
    period = np.full(STEPS, 0.1)
    period[200] = 250.1
    waited = np.full(STEPS, 0.0)
    waited[200] = 250.0
    run = stalled(make_run, period, row=200, accounts={"input_wait": waited})
    report = account_for(run).report
    (cause,) = report.causes
    assert cause.cause == "input_pipeline"
    assert cause.evidence[-1].endswith(
        "the training thread was in `waits_for_lock` (data.py:88), 2 threads in `serve` "
        "(data.py:12)."
    )
    assert report.unexplained is None
