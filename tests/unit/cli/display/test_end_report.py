"""What `tbslow run` says at its end: the headline, the first cause, one fix, and where more is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from unit.report.patches.defects import Program, _report

from tb_slowdown_plugin.analysis.report_builder import account as accounting
from tb_slowdown_plugin.analysis.report_types.causes import Suspect, Unexplained
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.cli.display import end_report
from tb_slowdown_plugin.cli.display.end_report import print_end
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.report import judged_runs


def test_the_end_has_the_cause_and_one_fix(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_end("my logs", str(root / "tests" / "recordings" / "retracing_number"))
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("tbslow: ") for line in lines)
    assert "retracing" in lines[0]
    (fix,) = [number for number, line in enumerate(lines) if line.startswith("tbslow: Fix (")]
    assert "Pass a tensor for" in lines[fix]
    assert lines[-1] == "tbslow: To see more: tensorboard --logdir 'my logs'"


def test_a_healthy_run_begins_with_that(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_end("logs", str(root / "tests" / "recordings" / "control_custom_loop"))
    out = capsys.readouterr().out
    assert out.startswith("tbslow: Healthy")
    assert out.endswith("--logdir logs\n")
    assert "tbslow try" not in out


def test_time_after_the_last_step_is_told_beside_the_verdict(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(end_report, "describe_unjudged", lambda _: "95 s are not judged.")
    print_end("logs", str(root / "tests" / "recordings" / "control_custom_loop"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("tbslow: Healthy")
    assert lines[1] == "tbslow: 95 s are not judged."


@pytest.mark.parametrize(
    ("recording", "offers"), [("control_custom_loop", True), ("retracing_number", False)]
)
def test_of_a_healthy_run_experiments_are_the_next_step(
    root: Path, capsys: pytest.CaptureFixture[str], recording: str, offers: bool
) -> None:
    print_end("logs", str(root / "tests" / "recordings" / recording), "my train.py", "--fast")
    line = "tbslow: To measure what a step could be: tbslow try --all 'my train.py' --fast\n"
    assert (line in capsys.readouterr().out) == offers


def test_lines_that_a_command_can_change_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Program(tmp_path, "for x in data:\n    gc.collect()\n    a()\n", "garbage_collection")
    made.saw(Fact("gc_forced", "train.py:2", {"calls": 9.0}))
    account = SimpleNamespace(report=_report(made.cause))
    monkeypatch.setattr(end_report, "judge_runs", lambda *_, **__: [(made.run, account)])
    monkeypatch.chdir(tmp_path)
    print_end("my logs", "logs")
    out = capsys.readouterr().out
    assert "tbslow: Fix (train.py:2): Remove `gc.collect()`" in out
    assert "tbslow: To see the changes of your lines: tbslow fix 'my logs'\n" in out


def test_a_logdir_without_records_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_end("none", str(tmp_path / "none"))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("tbslow: ")
    assert "none" in line


def test_a_report_that_fails_is_two_lines(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def account_for(_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(judged_runs, "account_for", account_for)
    print_end("logs", str(root / "tests" / "recordings" / "control_custom_loop"))
    assert capsys.readouterr().out == (
        "tbslow: The report failed (ZeroDivisionError: of ours).\n"
        "tbslow: To see where: tbslow report logs\n"
    )


def test_where_most_is_unexplained_a_lesser_cause_is_not_the_answer(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def account_for(run: Run) -> RunAccount:
        account = accounting.account_for(run)
        text = "Since step 40 a step takes 9 ms more, and no measured signal accounts for it."
        report = replace(
            account.report,
            unexplained_seconds=account.report.wall_seconds,
            unexplained=Unexplained("level_shift", (40, 99), text),
            suspects=(Suspect("python_overhead", 1.0, "It waits at `a.py:14`."),),
        )
        return replace(account, report=report)

    monkeypatch.setattr(judged_runs, "account_for", account_for)
    print_end("logs", str(root / "tests" / "recordings" / "retracing_number"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "tbslow: Since step 40 a step takes 9 ms more, and no measured signal accounts for it.",
        "tbslow: It may be this: It waits at `a.py:14`.",
        "tbslow: To see more: tensorboard --logdir logs",
    ]


def test_the_program_s_own_cause_comes_before_what_others_took(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def account_for(run: Run) -> RunAccount:
        account = accounting.account_for(run)
        (own, *_) = account.report.causes
        busy = replace(own, summary="Other programs used the cores.", external=True)
        start = replace(own, cause="warm_up", summary="The first steps.")
        return replace(account, report=replace(account.report, causes=(busy, start, own)))

    monkeypatch.setattr(judged_runs, "account_for", account_for)
    print_end("logs", str(root / "tests" / "recordings" / "retracing_number"))
    assert "Argument `learning_rate` is a Python float" in capsys.readouterr().out.splitlines()[1]


@pytest.mark.parametrize(("times", "lead"), [(2.0, "Next: "), (0.5, "")])
def test_a_start_that_the_headline_names_comes_before_the_next_cause(
    root: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    times: float,
    lead: str,
) -> None:
    def account_for(run: Run) -> RunAccount:
        account = accounting.account_for(run)
        (own, *_) = account.report.causes
        lost = times * own.lost_seconds
        start = replace(own, cause="warm_up", summary="The first steps.", lost_seconds=lost)
        return replace(account, report=replace(account.report, causes=(start, own)))

    monkeypatch.setattr(judged_runs, "account_for", account_for)
    print_end("logs", str(root / "tests" / "recordings" / "retracing_number"))
    lines = capsys.readouterr().out.splitlines()
    assert ("tbslow: The first steps." in lines) == bool(lead)
    assert f"tbslow: {lead}Argument `learning_rate` is a Python float" in "\n".join(lines)
