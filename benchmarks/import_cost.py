"""CPU time of what starts: `tbslow report` of a short run, and `import tbslow`.

    python -m benchmarks --only start

Each in fresh processes whose modules are compiled, as they are where the package is installed:
an environment that sets PYTHONDONTWRITEBYTECODE compiles them at each start.
"""

from __future__ import annotations

import compileall
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Final

from benchmarks.row import Row, unless_busy

ROOT: Final = Path(__file__).parent.parent
_TIMES: Final = 7
_REPORT_SECONDS: Final = 0.3
_IMPORT_SECONDS: Final = 0.05
_IMPORT: Final = """
import time
import tensorflow
began = time.process_time()
import tbslow
tbslow.start
print(time.process_time() - began)
"""


def measure() -> list[Row]:
    """Both as rows of the table of all benchmarks."""
    compileall.compile_dir(ROOT / "tb_slowdown_plugin", quiet=2)
    reports = [_report_seconds() for _ in range(_TIMES)]
    imports = [float(_run("-c", _IMPORT)) for _ in range(_TIMES)]
    return [
        _row("`tbslow report` of 1,200 steps", reports, _REPORT_SECONDS),
        _row("`import tbslow` after `import tensorflow`", imports, _IMPORT_SECONDS),
    ]


def _row(what: str, seconds: list[float], most: float) -> Row:
    median = statistics.median(seconds)
    return Row(
        what,
        f"{1e3 * median:.0f} ms of CPU",
        f"{1e3 * min(seconds):.0f} to {1e3 * max(seconds):.0f} ms",
        f"at most {1e3 * most:.0f} ms",
        unless_busy(median <= most),
    )


def _report_seconds() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _run("-m", "tb_slowdown_plugin", "report", str(ROOT / "demo_logs/slow_map_stage"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
