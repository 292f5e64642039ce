"""The cell magic trains, then shows the report below; each cell is a run of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tensorflow")

import tbslow
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer import monitor

pytestmark = pytest.mark.tensorflow

TRAINING = """
import tensorflow as tf
weight = tf.Variable(1.0)

@tf.function
def train_step(x):
    weight.assign_sub(x)

for number in range(40):
    train_step(tf.constant(0.1))
"""


class Shell:
    """Takes the part of IPython's."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.magics: dict[tuple[str, str], Callable[[str, str], None]] = {}

    def register_magic_function(self, function: Callable[..., None], kind: str) -> None:
        self.magics[kind, function.__name__] = function

    def run_cell(self, text: str) -> None:
        exec(text, self.names)


@pytest.fixture
def slowdown() -> Callable[[str, str], None]:
    shell = Shell()
    tbslow.load_ipython_extension(shell)
    return shell.magics["cell", "slowdown"]


def test_the_report_of_a_cell_is_below_it(
    slowdown: Callable[[str, str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("first", "second"):
        slowdown(f"--logdir {tmp_path / name}", TRAINING)
        out = capsys.readouterr().out
        assert out.startswith(f"Run {name}\n")
        assert re.search(r"^  Wall +[\d.]+ s +40 steps$", out, re.MULTILINE)
        assert "A step is one call of train_step (<string>:5)." in out
        assert out.endswith(f"To see more: tensorboard --logdir {tmp_path / name}\n")
        assert monitor.active() is None


def test_a_cell_that_does_not_train_leaves_nothing(
    slowdown: Callable[[str, str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slowdown(f"--logdir {tmp_path / 'none'}", "value = 1 + 1")
    said = capsys.readouterr().out
    assert said == (
        "No steps recorded: no function or optimizer was seen to change a trainable variable.\n"
    )
    assert not (tmp_path / "none").exists()


def test_a_monitor_that_is_active_goes_on_and_is_told_of(
    slowdown: Callable[[str, str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with tbslow.start(tmp_path / "mine") as active:
        slowdown(f"--logdir {tmp_path / 'cell'}", TRAINING)
        assert monitor.active() is active
    said = capsys.readouterr().out
    assert said.startswith("Nothing recorded by %%slowdown: another monitor is active")
    assert not (tmp_path / "cell").exists()


def test_a_cell_that_raises_is_not_watched_any_more(
    slowdown: Callable[[str, str], None], tmp_path: Path
) -> None:
    with pytest.raises(ZeroDivisionError):
        slowdown(f"--logdir {tmp_path / 'raises'}", "1 / 0")
    assert monitor.active() is None


def test_other_words_are_refused(slowdown: Callable[[str, str], None]) -> None:
    with pytest.raises(UsageError, match=r"takes .--logdir DIR. .--step RULE. and nothing else"):
        slowdown("--fast", "pass")
