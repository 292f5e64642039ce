"""What is said at the end goes to stderr, once, and by no fork."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tb_slowdown_plugin.writer import monitor
from tb_slowdown_plugin.writer.launch import end_report
from tb_slowdown_plugin.writer.launch.settings import Settings

PROGRAM = """
import os, sys
from tb_slowdown_plugin.writer import monitor
from tb_slowdown_plugin.writer.launch import end_report
from tb_slowdown_plugin.writer.launch.settings import Settings
end_report.at_exit(Settings("/nowhere", "nowhere", quiet={quiet}))
{rest}
"""
HINT = (
    "Say what a step is: --step FUNCTION (each call of a tf.function), --step dataset (each batch "
    "of a tf.data dataset that Python iterates over), or with tbslow.summary.step() in the loop."
)
ENDED = ": No steps recorded before the program ended with SyntaxError.\n"
SAID = "tbslow: No steps recorded: the program didn't import TensorFlow.\n"


@pytest.mark.parametrize(
    ("quiet", "rest", "said"),
    [
        (False, "", SAID),
        (True, "", ""),
        (False, "sys.stdout.close(); sys.stderr.close()", ""),
        (False, "sys.stderr = None", SAID),
        (False, "os._exit(0)", ""),
        (False, "if os.fork(): os.wait()\nelse: sys.exit()", SAID),
        (False, "sys.last_type = SyntaxError", SAID.partition(":")[0] + ENDED),
    ],
    ids=["usual", "quiet", "closed", "no stderr", "left at once", "fork", "failed"],
)
def test_it_is_said_once_where_it_can_be(root: Path, quiet: bool, rest: str, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(quiet=quiet, rest=rest)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", said)


def test_where_tensorflow_is_not_installed_it_is_said_how_to_get_it(monkeypatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(end_report, "_say", said.append)
    monkeypatch.setattr(end_report.importlib.util, "find_spec", lambda _: None)
    monkeypatch.delitem(sys.modules, "tb_slowdown_plugin.writer.launch.unasked", raising=False)
    end_report._report(Settings("/nowhere", "nowhere"))
    assert said == [
        'No steps recorded: TensorFlow isn\'t installed here: pip install "tb-slowdown-plugin[tf]"'
    ]


@pytest.mark.parametrize(
    ("failed", "says"),
    [
        (ValueError, "No steps recorded before the program ended with ValueError."),
        (None, f"No steps recorded: nothing trains. {HINT}"),
    ],
)
def test_a_program_that_has_failed_is_not_told_what_a_step_could_be(
    monkeypatch, failed, says
) -> None:
    said: list[str] = []
    begun = SimpleNamespace(begun=lambda: SimpleNamespace(reason="nothing trains"))
    monkeypatch.setattr(end_report, "_say", said.append)
    monkeypatch.setitem(sys.modules, "tb_slowdown_plugin.writer.launch.unasked", begun)
    monkeypatch.setattr(monitor, "last_logdir", lambda: None)
    if failed is None:
        monkeypatch.delattr(sys, "last_type", raising=False)
    else:
        monkeypatch.setattr(sys, "last_type", failed, raising=False)
    end_report._report(Settings("/nowhere", "nowhere"))
    assert said == [says]


@pytest.mark.parametrize(
    ("script", "is_there"),
    [
        ([], True), (["-c"], True), (["-m"], False), (["train.py"], True), (["gone.py"], False),
        (["pkg"], False), (["run"], True), ([""], False),
    ],
)  # fmt: skip
def test_what_python_could_not_find_it_has_said_itself(
    tmp_path, monkeypatch, script, is_there
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    (tmp_path / "pkg").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "__main__.py").touch()
    assert end_report._is_there(script) is is_there


def test_the_rule_that_was_tried_is_not_offered_again() -> None:
    assert "--step dataset" in end_report._hint(Settings("/nowhere", "nowhere", step="fit"))
    hint = end_report._hint(Settings("/nowhere", "nowhere", step="dataset"))
    assert hint == (
        "Say what a step is: --step FUNCTION (each call of a tf.function), or with "
        "tbslow.summary.step() in the loop."
    )
