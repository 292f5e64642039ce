"""Reports for programs: the same as the command prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tbslow
from tb_slowdown_plugin.cli.command import main
from tb_slowdown_plugin.errors import InputError


def test_a_program_gets_what_the_command_prints(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demos = root / "demo_logs"
    found = tbslow.report(demos)
    assert main(["report", str(demos), "--format", "json"]) == 0
    assert [each.to_dict() for each in found] == json.loads(capsys.readouterr().out)["runs"]


def test_one_run_is_asked_for_by_its_name(root: Path) -> None:
    (found,) = tbslow.report(root / "demo_logs", run="healthy")
    assert (found.run, found.verdict) == ("healthy", "healthy")
    assert [each.cause for each in found.causes] == ["warm_up"]


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        tbslow.report(tmp_path / "none")


def test_what_could_not_be_read_is_warned_of(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    folder.mkdir()
    (source,) = (root / "demo_logs" / "healthy").rglob("events.out.*")
    (folder / source.name).write_bytes(source.read_bytes()[:-7])
    (found,) = tbslow.report(tmp_path)
    assert any("ends in the middle of a record" in note for note in found.notes)
