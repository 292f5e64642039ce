"""Where a healthy step was seen, and a headline and notes that are the report's."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for, open_case
from tb_slowdown_plugin.analysis.report_builder.judgment import judge
from tb_slowdown_plugin.analysis.report_builder.report_text import tell_headline, tell_notes


def test_steps_are_told_by_their_numbers(make_run):
    pause = np.where(np.arange(600) >= 300, 0.01, 0.0)
    run = make_run(0.01 + pause, numbers=np.arange(5000, 5600))
    report = account_for(run).report
    assert report.as_of is not None
    assert report.as_of.step == 5599
    assert "steps 5,0" in report.baseline


def test_healthy_time_that_is_no_healthy_step_s_is_told(make_run):
    """For a while steps take twice as long, which a processor may do."""
    steps = np.where(np.arange(600) < 400, 0.010, 0.020)
    report = account_for(make_run(steps)).report
    assert (report.verdict, report.lost_seconds) == ("healthy", 0.0)
    assert report.healthy_step_seconds == pytest.approx(0.010)
    assert report.baseline.endswith("; longer steps add 2 s to that, which doesn't count as lost")
    assert ";" not in account_for(make_run(np.full(600, 0.005))).report.baseline


def test_headline_and_notes_are_those_of_the_report(make_run):
    run = make_run(np.where(np.arange(600) < 300, 0.010, 0.020))
    case = open_case(run)
    judgment = judge(case, ())
    report = account_for(run).report
    assert tell_headline(case, judgment) == report.headline
    assert report.headline.startswith("2.97 s of 9 s lost (33%)")
    assert tuple(tell_notes(case, judgment)) == report.notes
