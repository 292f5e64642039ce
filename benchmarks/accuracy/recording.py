"""Runs a test program in a process of its own, and reads its records and its truth."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.accuracy.real import Outcome, read_outcome

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
LONGEST_SECONDS = 600


class ProgramFailed(Exception):
    """A program ended with an error, or did not end; the message is the last line it wrote."""


def record(program: Path, directory: Path, *, healthy: bool) -> Outcome:
    """Runs a program and judges its records.

    Args:
      program: A file that imports `injector` of `tests/programs` and calls its `run`.
      directory: Where the records and `truth.json` go.
      healthy: Without its defect.

    Raises:
      ProgramFailed: It did not come to an end.
    """
    command = [sys.executable, str(program), str(directory.resolve())]
    command += ["--healthy"] if healthy else []
    paths = os.pathsep.join([str(ROOT), str(PROGRAMS)])
    try:
        subprocess.run(
            command,
            cwd=program.parent,
            env={**os.environ, "PYTHONPATH": paths},
            check=True,
            capture_output=True,
            timeout=LONGEST_SECONDS,
        )
    except subprocess.SubprocessError as error:
        said = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip()
        raise ProgramFailed(said.splitlines()[-1][:120] if said else str(error)) from error
    return read_outcome(directory)
