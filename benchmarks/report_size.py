"""How the time and memory of `tbslow report` grow with the run, as a whole process."""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks import long_run
from benchmarks.row import Row

_PROMISED: Final = {1_000_000: (3.0, 500.0), 10_000_000: (20.0, 2000.0)}
"""Steps -> seconds and megabytes (DESIGN section 9)."""


def measure(most: int) -> list[Row]:
    """The report of 10,000 steps, of ten times as many, and so on up to `most`."""
    rows, before = [], 0.0
    for exponent in range(4, round(math.log10(most)) + 1):
        steps = 10**exponent
        with tempfile.TemporaryDirectory() as logdir:
            long_run.write(Path(logdir) / "run/slowdown", steps)
            seconds, megabytes = _report(logdir)
        promise = _PROMISED.get(steps)
        rows.append(
            Row(
                f"report of {steps:,} steps",
                f"{seconds:.1f} s, {megabytes:.0f} MB",
                f"{seconds / before:.1f} times as long as of a tenth" if before else "",
                f"at most {promise[0]:.0f} s, {promise[1]:.0f} MB" if promise else "",
                seconds <= promise[0] and megabytes <= promise[1] if promise else None,
            )
        )
        before = seconds
    return rows


def _report(logdir: str) -> tuple[float, float]:
    """Seconds from start to end of the process, and its memory at the peak in MB."""
    began = time.monotonic()
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "tb_slowdown_plugin", "report", logdir],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"the report ended with status {os.waitstatus_to_exitcode(status)}")
    return time.monotonic() - began, usage.ru_maxrss / 1e3
