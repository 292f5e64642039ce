"""Real programs of few steps, and of which much could not be looked at: recorded once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.reader.logdir import read_runs

RECORDINGS = Path(__file__).parents[1] / "short_programs" / "recordings"
EXCUSED = {"warm_up", "cpu_contention"}
"""The programs were recorded beside other work."""
CAUSE = {
    "trials": "retracing",
    "tracing12": "retracing",
    "checkpoint12": "checkpointing",
    "gc30": "garbage_collection",
    "input12": "input_pipeline",
    "optimizer12": "optimizer_state",
    "predict12": "retracing",
    "callback30": "callbacks",
    "summaries12": "callbacks",
}
HEALTHY = (
    "healthy12",
    "healthy60",
    "healthy_fit30",
    "healthy_fit_epochs",
    "last_batch",
    "generalising",
    "episodes",
)
PARTLY = ("tf1_waiting", "traced_earlier", "env_process")


def report_on(name: str) -> Report:
    (run,) = read_runs(str(RECORDINGS / name), warn=print)
    return account_for(run).report


def test_each_recording_has_its_answer() -> None:
    assert {path.name for path in RECORDINGS.iterdir()} == {*CAUSE, *HEALTHY, *PARTLY}


@pytest.mark.parametrize("name", CAUSE)
def test_a_defect_in_few_steps_is_named(name: str) -> None:
    report = report_on(name)
    named = [cause.cause for cause in report.causes if cause.cause not in EXCUSED]
    assert (report.verdict, report.judged) == ("slowdown", "whole"), report.headline
    assert named[0] == CAUSE[name]


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_short_program_is_left_alone(name: str) -> None:
    report = report_on(name)
    assert report.verdict != "slowdown", report.headline
    assert report.judged == "whole"
    assert {cause.cause for cause in report.causes} <= EXCUSED


@pytest.mark.parametrize("name", PARTLY)
def test_what_could_not_be_looked_at_is_not_healthy(name: str) -> None:
    report = report_on(name)
    assert report.judged == "partly"
    assert report.headline.startswith("No slowdown found in what was measured")
    assert "the process was nearly idle" in report.blind_spots[0]
    (wait,) = [state for state in report.signals if state.signal == "input_wait"]
    if name == "tf1_waiting":
        assert wait.status == "unavailable"
        assert wait.reason.startswith("not measured here, because")
