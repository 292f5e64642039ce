"""`tbslow demo`: what it refuses, and its bar."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path

import pytest

from tb_slowdown_plugin.cli.command import main
from tb_slowdown_plugin.cli.demo.command import draw_progress
from tb_slowdown_plugin.cli.demo.program import STEPS


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_as_full_as_the_training_is_done() -> None:
    terminal = Terminal()
    draw_progress(terminal, STEPS // 2)
    assert terminal.getvalue() == f"\r{'█' * 20}{'░' * 20} step {STEPS // 2} of {STEPS}\x1b[K"
    terminal = Terminal()
    draw_progress(terminal, 0)
    assert "starting TensorFlow" in terminal.getvalue()


def test_no_terminal_no_bar() -> None:
    stream = io.StringIO()
    draw_progress(stream, 5)
    assert stream.getvalue() == ""


def test_a_directory_with_something_in_it_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    assert main(["demo", str(tmp_path)]) == 2
    assert "already exists; give a new directory" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_without_tensorflow_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert main(["demo", str(tmp_path / "demo")]) == 2
    assert "TensorFlow is not installed" in capsys.readouterr().err
    assert not (tmp_path / "demo").exists()
