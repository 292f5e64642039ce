"""How the time and memory of `tbslow report` grow with the run, as a whole process."""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks import long_run
from benchmarks.row import Row, unless_busy

_PROMISED: Final = {1_000_000: (3.0, 500.0), 10_000_000: (10.0, 1000.0)}
"""Steps -> at most so many seconds and megabytes."""


def measure(most: int) -> list[Row]:
    """The report of 10,000 steps, of ten times as many, and so on up to `most`."""
    rows, before = [], 0.0
    for exponent in range(4, round(math.log10(most)) + 1):
        steps = 10**exponent
        with tempfile.TemporaryDirectory() as logdir:
            long_run.write(Path(logdir) / "run/slowdown", steps)
            seconds, cpu_seconds, megabytes = _report(logdir)
        promise = _PROMISED.get(steps)
        rows.append(
            Row(
                f"report of {steps:,} steps",
                f"{seconds:.1f} s ({cpu_seconds:.1f} s of CPU), {megabytes:.0f} MB",
                f"{cpu_seconds / before:.1f} times the CPU of a tenth" if before else "",
                f"at most {promise[0]:.0f} s, {promise[1]:.0f} MB" if promise else "",
                _is_kept(seconds, cpu_seconds, megabytes, promise) if promise else None,
            )
        )
        before = cpu_seconds
    return rows


def _is_kept(
    seconds: float, cpu_seconds: float, megabytes: float, promise: tuple[float, float]
) -> bool | None:
    """Memory, and CPU above the promised seconds, no neighbour is to blame for."""
    if megabytes > promise[1] or cpu_seconds > promise[0]:
        return False
    return unless_busy(seconds <= promise[0])


_LAUNCH: Final = """
import resource, subprocess, sys, time
began = time.monotonic()
subprocess.run([sys.executable, "-m", "tb_slowdown_plugin", "report", sys.argv[1]],
               stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
"""A small process starts it: a child's peak begins with the memory of who has started it."""


def _report(logdir: str) -> tuple[float, float, float]:
    """Seconds from start to end of the process, those of CPU, and its memory at the peak in MB."""
    done = subprocess.run(
        [sys.executable, "-c", _LAUNCH, logdir], capture_output=True, text=True, check=True
    )
    seconds, cpu_seconds, kilobytes = map(float, done.stdout.split())
    return seconds, cpu_seconds, kilobytes / 1e3
