"""`tbslow report`: what a run lost by itself, and when a job fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.cli.command import main
from tb_slowdown_plugin.cli.report import entitled, own_fraction
from tb_slowdown_plugin.reader.logdir import read_runs


def report_of(root: Path, name: str) -> Report:
    (run,) = read_runs(str(root / "tests" / "recordings" / name), warn=print)
    return account_for(run).report


def test_what_other_processes_took_is_not_its_own_loss(root: Path) -> None:
    report = report_of(root, "cpu_contention")
    outside = sum(cause.lost_seconds for cause in report.causes if cause.external)
    assert outside > 0.1 * report.wall_seconds
    own = report.lost_seconds - outside
    assert own_fraction(report) == pytest.approx(own / report.wall_seconds)
    assert own_fraction(report) < report.lost_fraction


def test_noise_of_a_healthy_run_is_no_loss(root: Path) -> None:
    report = report_of(root, "control_custom_loop")
    assert report.verdict == "healthy"
    named = sum(cause.lost_seconds for cause in report.causes if not cause.external)
    assert own_fraction(report) == pytest.approx(named / report.wall_seconds, abs=1e-9)


def test_the_run_at_the_top_has_the_name_of_its_logdir(root: Path) -> None:
    report = report_of(root, "thermal")
    (titled,) = entitled([report], "logs/mine")
    assert (report.run, titled.run) == (".", "mine")


@pytest.mark.parametrize(("limit", "status"), [("10", 3), ("90", 0)])
def test_a_job_fails_from_its_limit_on(
    root: Path, limit: str, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    logdir = str(root / "tests" / "recordings" / "thermal")
    assert main(["report", logdir, "--fail-over", limit, "--format", "json"]) == status
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert 0.1 < run["lost_fraction"] < 0.9
