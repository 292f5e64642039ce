"""`tbslow demo`: a fresh slow run of this machine."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Final, TextIO

from tb_slowdown_plugin.cli.demo.program import STEPS
from tb_slowdown_plugin.cli.output import ink_of, tell, write
from tb_slowdown_plugin.cli.report import entitled
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.report.judged_runs import judge_runs
from tb_slowdown_plugin.report.text_report import to_text

_BAR_COLUMNS: Final = 40


def demo(chosen: Namespace) -> int:
    """Records a program with a mistake in it, and reports on it; returns the exit status."""
    logdir = Path(chosen.logdir).expanduser()
    if logdir.exists() and (not logdir.is_dir() or any(logdir.iterdir())):
        raise InputError(f"'{chosen.logdir}' already exists; give a new directory")
    if importlib.util.find_spec("tensorflow") is None:
        raise InputError(
            "TensorFlow is not installed, and the demo trains with it; "
            "pip install tensorflow, or look at a recorded run"
        )
    try:
        logdir.mkdir(parents=True, exist_ok=True)
    except OSError as error:  # soon told: TensorFlow takes seconds to start
        raise InputError(
            f"the demo could not train into '{chosen.logdir}': {error.strerror}"
        ) from error
    _record(str(logdir.resolve()), chosen.logdir, sys.stderr)
    reports = [account.report for _, account in judge_runs(str(logdir), warn=tell)]
    width, colour = ink_of(None)
    write(to_text(entitled(reports, str(logdir)), width=width, colour=colour), None)
    write(
        f"\nTo see it in TensorBoard: tensorboard --logdir {chosen.logdir}, "
        "then open the tab Slowdown\n"
        "The program that was recorded is the module tb_slowdown_plugin.cli.demo.program.\n",
        None,
    )
    return 0


def _record(logdir: str, given: str, terminal: TextIO) -> None:
    """In a process of its own: what TensorFlow prints, or dies of, is not ours."""
    program = [sys.executable, "-m", "tb_slowdown_plugin.cli.demo.program", logdir, str(STEPS)]
    with tempfile.TemporaryFile("w+") as said:
        with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=said, text=True) as process:
            assert process.stdout is not None
            draw_progress(terminal, 0)
            for line in process.stdout:
                draw_progress(terminal, int(line))
        if terminal.isatty():
            terminal.write("\r\x1b[K")
        if process.returncode:
            said.seek(0)
            last = (said.read().strip().splitlines() or [f"status {process.returncode}"])[-1]
            raise InputError(f"the demo could not train into '{given}': {last}")


def draw_progress(terminal: TextIO, done: int) -> None:
    """A bar of the steps done, on terminals only; 0 while TensorFlow starts."""
    if not terminal.isatty():
        return
    filled = _BAR_COLUMNS * done // STEPS
    what = f"step {done} of {STEPS}" if done else "starting TensorFlow"
    terminal.write(f"\r{'█' * filled}{'░' * (_BAR_COLUMNS - filled)} {what}\x1b[K")
    terminal.flush()
