"""What the environment says of a program that watches itself by an import."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tb_slowdown_plugin.writer.launch import end_report, import_watch, without_command
from tb_slowdown_plugin.writer.launch.settings import Settings


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """The settings of each watch that was begun."""
    settings: list[dict[str, Any]] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(import_watch, "is_installed", lambda: bool(settings))
    monkeypatch.setattr(import_watch, "install", lambda given: settings.append(vars(given)))
    monkeypatch.setattr(end_report, "at_exit", lambda given: None)
    return settings


def test_the_environment_gives_the_logdir_and_the_rule(begun: list[dict[str, Any]]) -> None:
    without_command.begin({"TBSLOW_LOGDIR": "a", "TBSLOW_STEP": "fit", "TBSLOW_QUIET": "1"})
    here = str(Path.cwd())
    (given,) = begun
    assert given == vars(Settings(f"{here}/a", "a", "fit", quiet=True))


def test_without_it_the_logdir_is_named_after_the_program(
    begun: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/home/ann/train.py", "--fast"])
    without_command.begin({})
    assert begun[0]["shown"].startswith("tbslow-runs/train-")
    assert (begun[0]["step"], begun[0]["quiet"]) == ("", False)


def test_an_address_stays_as_it_is(begun: list[dict[str, Any]]) -> None:
    without_command.begin({"TBSLOW_LOGDIR": "gs://bucket/logs"})
    assert begun[0]["logdir"] == "gs://bucket/logs"


def test_a_program_that_is_watched_already_is_left_alone(begun: list[dict[str, Any]]) -> None:
    without_command.begin({"TBSLOW_LOGDIR": "a"})
    without_command.begin({"TBSLOW_LOGDIR": "b"})
    assert [each["shown"] for each in begun] == ["a"]
