"""What `tbslow run` says at its end: the headline, the first cause, one fix, and where more is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_slowdown_plugin.cli.end_report import print_end


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


def test_a_logdir_without_records_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_end("none", str(tmp_path / "none"))
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("tbslow: ")
    assert "none" in line
