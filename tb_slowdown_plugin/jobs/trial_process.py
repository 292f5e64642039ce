"""Runs a program once, in a fresh process and a fresh copy of its directory."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.jobs.experiments import Times
from tb_slowdown_plugin.jobs.program_copy import ProgramCopy, move_path
from tb_slowdown_plugin.records.trials import TIMES_FILE

_END_SECONDS: Final = 5.0
_TICK_SECONDS: Final = 0.5
_REASON_COLUMNS: Final = 200

Prepare = Callable[[Sequence[str], str, str, Mapping[str, str]], tuple[list[str], dict[str, str]]]
"""(program, experiment, logdir, environment) -> the command and its environment."""


class TrialProcess:
    """Runs the program; one at a time.

    Args:
      program: "train.py" and its arguments, or "-m", a module, and its arguments.
      prepare: Makes the command.
      scratch: A directory for copies and records.
      copy: Makes copies of its directories; None to run in `workdir`.
      workdir: Where it runs without a copy.
      tick: Called now and then while it runs.
    """

    def __init__(
        self,
        program: Sequence[str],
        prepare: Prepare,
        scratch: Path,
        copy: ProgramCopy | None,
        workdir: Path,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._tick = tick
        self._program = program
        self._prepare = prepare
        self._scratch = scratch
        self._copy = copy
        self._workdir = workdir
        self._runs = 0
        self.timeout_seconds: float | None = None
        """After which a run is ended; None for never."""
        self.changed: dict[str, Mapping[Path, bytes]] = {}
        """Experiment -> files that have another content in its copies."""

    def run(self, experiment: str, logdir: Path | None = None) -> Times:
        """Runs it.

        Args:
          experiment: The name of the intervention.
          logdir: Where the records go and stay; None where they aren't needed.
        """
        self._runs += 1
        folder = self._scratch / f"run-{self._runs}"
        folder.mkdir()
        records = logdir or folder / "records"
        # Made here: the program may write into it, and nowhere else around it.
        records.mkdir(parents=True, exist_ok=True)
        try:
            return self._run(experiment, folder, records)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, experiment: str, folder: Path, logdir: Path) -> Times:
        program, current = list(self._program), self._workdir
        environment = dict(os.environ)
        if self._copy is not None:
            program, current, copies = self._copy.make(
                folder / "copy", self.changed.get(experiment)
            )
            for name in ("PWD", "PYTHONPATH"):
                if name in environment:
                    environment[name] = move_path(environment[name], copies)
        command, environment = self._prepare(program, experiment, str(logdir), environment)
        output = folder / "output.txt"
        with output.open("wb") as stream:
            process = subprocess.Popen(
                command,
                cwd=current,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = self._wait(process)
            except subprocess.TimeoutExpired:
                return _nothing(f"no end within {self.timeout_seconds:.0f} s")
            finally:
                _end_group(process)
        return read_times(logdir / TIMES_FILE, status, output)

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        """The exit status.

        Raises:
          subprocess.TimeoutExpired: It runs for too long.
        """
        end = time.monotonic() + (self.timeout_seconds or math.inf)
        while True:
            self._tick()
            try:
                return process.wait(_TICK_SECONDS)
            except subprocess.TimeoutExpired:
                if time.monotonic() > end:
                    raise


def read_times(file: Path, status: int, output: Path) -> Times:
    """What a process has left behind.

    Args:
      file: Its times.
      status: Its exit status.
      output: What it has printed.
    """
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
        file.unlink()
    except (OSError, ValueError):
        body = None
    if status != 0:
        return _nothing(f"the program failed with status {status}: {_last_line(output)}")
    if body is None or not (body["ended_ns"] or body["reason"]):
        return _nothing("the program ended without a step")
    return _times(body)


def _times(body: Mapping[str, Any]) -> Times:
    ended = np.array(body["ended_ns"], np.int64)
    seconds = (ended - ended[0]) / 1e9 if len(ended) else np.zeros(0)
    return Times(seconds, np.array(body["batches"], np.float64), body["reason"])


def _nothing(reason: str) -> Times:
    return Times(np.zeros(0), np.zeros(0), reason)


def _last_line(output: Path) -> str:
    lines = output.read_text(encoding="utf-8", errors="replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][:_REASON_COLUMNS] if said else "it printed nothing"


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and all that it has started."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_END_SECONDS)
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
