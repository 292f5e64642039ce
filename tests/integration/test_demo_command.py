"""`tbslow demo`: a run of this machine, and what is said where there can be none."""

from __future__ import annotations

import importlib.util
import io
from pathlib import Path

import pytest
from integration.command_line import refusal

from tb_slowdown_plugin.__main__ import main
from tb_slowdown_plugin.cli.demo.command import draw_progress
from tb_slowdown_plugin.cli.demo.program import STEPS


@pytest.mark.tensorflow
def test_it_records_a_run_and_names_its_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    told = " ".join(out.split())
    assert "Biggest cause: retracing of train_step (tb_slowdown_plugin/cli/demo/program.py:" in told
    assert "Argument `learning_rate` is a Python float" in out
    assert f"{STEPS} steps" in out
    assert "tensorboard --logdir tbslow-demo, then open the tab Slowdown" in out
    assert main(["report", "tbslow-demo"]) == 0


@pytest.mark.tensorflow
def test_a_directory_that_cannot_be_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["demo", str(tmp_path / "file" / "logs")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert str(tmp_path / "file" / "logs") in err


def test_a_directory_with_something_in_it_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").write_text("")
    error = refusal(capsys, "demo", str(tmp_path))
    assert error == f"'{tmp_path}' already exists; give a new directory"


def test_without_tensorflow_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    error = refusal(capsys, "demo", str(tmp_path / "new"))
    assert error.startswith("TensorFlow is not installed")
    assert not (tmp_path / "new").exists()


def test_one_directory_at_most(capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "demo", "a", "b") == ("unrecognized arguments: b; see 'tbslow --help'")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_drawn_on_terminals_only() -> None:
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        draw_progress(stream, 0)
        draw_progress(stream, STEPS // 2)
    assert file.getvalue() == ""
    starting, half = terminal.getvalue().split("\r")[1:]
    assert starting == "░" * 40 + " starting TensorFlow\x1b[K"
    assert half == "█" * 20 + "░" * 20 + f" step {STEPS // 2} of {STEPS}\x1b[K"


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo", "--help"])
    out = capsys.readouterr().out
    for word in ("LOGDIR", "tbslow-demo", "needs TensorFlow", "exit status"):
        assert word in out
