"""A report adds up, step by step and in sum, whatever the run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for, open_case
from tb_slowdown_plugin.reader.logdir import read_runs

ROOT = Path(__file__).resolve().parents[4]
NAMES = ("retracing_number", "cpu_contention", "warm_up_first_pass", "control_workload")


@pytest.mark.parametrize("name", NAMES)
def test_each_step_and_the_run_add_up(name):
    (run,) = read_runs(str(ROOT / "tests" / "recordings" / name), warn=print)
    account = account_for(run)
    report = account.report
    total = account.healthy_per_step + sum(account.lost_per_step.values())
    assert total == pytest.approx(np.nan_to_num(run.steps.period_seconds), abs=1e-9)
    explained = sum(cause.lost_seconds for cause in report.causes)
    assert explained + report.unexplained_seconds == pytest.approx(report.lost_seconds)
    assert report.lost_fraction == pytest.approx(report.lost_seconds / report.wall_seconds)
    assert {cause.cause for cause in report.causes} | {"unexplained"} == set(account.lost_per_step)
    for cause, lost in report.lost_by_cause().items():
        assert account.lost_per_step[cause].sum() == pytest.approx(lost)
    assert all(cause.subject for cause in report.causes)


def test_an_opened_case_names_no_cause_yet():
    (run,) = read_runs(str(ROOT / "tests" / "recordings" / "retracing_number"), warn=print)
    case = open_case(run)
    assert case.findings == case.diagnosis.findings
    assert "tracing:again" in {finding.source for finding in case.findings}
    assert len(case.graphs) > 90


def test_a_run_without_steps_has_a_report(make_run):
    report = account_for(make_run([])).report
    assert (report.verdict, report.steps, report.wall_seconds) == ("not_enough_steps", 0, 0.0)
    assert report.healthy_step_seconds is None
    assert report.as_of is None
    assert asdict(report)["causes"] == ()
