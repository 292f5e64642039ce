"""`tbslow share`: what it packs, and what it refuses."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tb_slowdown_plugin.cli.command import main
from tb_slowdown_plugin.cli.share import names_of_this_machine


def test_a_zip_holds_the_records_of_a_run(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "run.zip"
    logdir = root / "tests" / "recordings" / "thermal"
    assert main(["share", str(logdir), "-o", str(made)]) == 0
    (name,) = zipfile.ZipFile(made).namelist()
    assert "tfevents" in name
    out = capsys.readouterr().out
    assert out.startswith(f"{made} holds:\n  ")
    assert "800 steps" in out
    assert out.endswith("unpack it, then tensorboard --logdir DIRECTORY\n")


@pytest.mark.parametrize(
    ("given", "why"),
    [("gs://bucket/logs", "is not on this machine"), ("nowhere", "no such directory")],
)
def test_what_is_not_here_is_refused(
    given: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["share", given, "-o", str(tmp_path / "run.zip")]) == 2
    assert why in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_names_of_this_machine_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "box.lab.example")
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    names = names_of_this_machine()
    assert names["box.lab.example"] == names["box"] == "host name"
    assert names["ada"] == names[Path.home().name] == "user name"
