"""The exit status says how a command went, and stderr why in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from tb_slowdown_plugin.cli import command
from tb_slowdown_plugin.cli.command import UNUSABLE_INPUT, main


def test_unusable_input_is_one_line_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path / "none")]) == UNUSABLE_INPUT
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tbslow: ")
    assert err.count("\n") == 1


def test_a_wrong_flag_is_unusable_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "--page"]) == UNUSABLE_INPUT
    assert "see 'tbslow trace --help'" in capsys.readouterr().err


def test_an_interrupt_has_the_status_that_a_shell_expects(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(command._COMMANDS, "report", interrupted)
    assert main(["report", "logs"]) == 128 + signal.SIGINT


def test_the_status_of_a_command_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def judged(chosen: Namespace) -> int:
        seen.append(chosen.logdir)
        return 3

    monkeypatch.setitem(command._COMMANDS, "report", judged)
    assert main(["report", "logs"]) == 3
    assert seen == ["logs"]


def modules_after(code: str, root: Path) -> set[str]:
    """The modules that Python has imported when the code has run."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(chr(10), *sys.modules)"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    return set(done.stdout.rpartition("\n ")[2].split())


def test_the_help_imports_no_numpy(root: Path) -> None:
    code = (
        "from tb_slowdown_plugin.cli.command import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass"
    )
    found = modules_after(code, root)
    assert "tb_slowdown_plugin.cli.command" in found
    assert not {"numpy", "google.protobuf", "tb_slowdown_plugin.analysis"} & found


def test_a_report_starts_no_threads_of_numpy_and_hands_on_no_setting(root: Path) -> None:
    code = (
        "import os\n"
        "from tb_slowdown_plugin.cli.command import main\n"
        "main(['report', 'tests/recordings/retracing_number'])\n"
        "print(len(os.listdir('/proc/self/task')), os.environ.get('OPENBLAS_NUM_THREADS'))"
    )
    for given in ({}, {"OPENBLAS_NUM_THREADS": "3"}):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, **given},
            check=True,
            capture_output=True,
            text=True,
        )
        assert done.stdout.splitlines()[-1] == f"1 {given.get('OPENBLAS_NUM_THREADS')}"


def test_a_report_imports_what_it_prints(root: Path) -> None:
    code = (
        "from tb_slowdown_plugin.cli.command import main\n"
        "main(['report', 'tests/recordings/retracing_number'])"
    )
    found = modules_after(code, root)
    assert "tb_slowdown_plugin.report.text_report" in found
    assert (
        not {
            "tensorflow",
            "tensorboard.backend",
            "tb_slowdown_plugin.profiler.read",
            "tb_slowdown_plugin.report.embedded_answers",
            "tb_slowdown_plugin.report.json_body",
            "tb_slowdown_plugin.server",
            "urllib.request",
        }
        & found
    )
