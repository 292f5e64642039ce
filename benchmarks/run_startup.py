"""What `tbslow run` adds to the start of a program: CPU time, in pairs.

    python -m benchmarks.run_startup [--pairs 15]

Programs: one line without TensorFlow, and one that only imports it. Each pair runs the program as
`python PROGRAM` and as `tbslow run PROGRAM`, in fresh processes that take turns in who is first.
CPU time (user and system, of the process and its children) is what a busy machine changes least.
Prints the median of the differences, its 95% interval (of the sign test), and the share of what
the program takes by itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

PROGRAMS: Final = {
    "without TensorFlow": "print()\n",
    "with TensorFlow": "import tensorflow\n",
}
_PAIRS: Final = 15


class Added(NamedTuple):
    """CPU seconds."""

    alone: float
    """Median of the program by itself."""
    more: float
    """Median of the differences of pairs."""
    low: float
    high: float


def main() -> int:
    """Prints a line for each program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=_PAIRS)
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory(prefix="tbslow-startup-") as folder:
        for name, text in PROGRAMS.items():
            program = Path(folder, "program.py")
            program.write_text(text, encoding="utf-8")
            found = measure(program, pairs)
            print(
                f"{name}: {found.alone:.2f} s alone, {found.more:+.3f} s with tbslow run "
                f"({found.low:+.3f} to {found.high:+.3f}), {found.more / found.alone:.1%} "
                f"({pairs} pairs)",
                flush=True,
            )
    return 0


def measure(program: Path, pairs: int) -> Added:
    """The start of a program, with and without."""
    commands = (
        [sys.executable, str(program)],
        [sys.executable, "-m", "tb_slowdown_plugin", "run", "--quiet", str(program)],
    )
    alone: list[float] = []
    differences: list[float] = []
    for command in commands:  # the first time reads files
        cpu_seconds(command, program.parent)
    for number in range(pairs):
        turn = (0, 1) if number % 2 else (1, 0)
        taken = {index: cpu_seconds(commands[index], program.parent) for index in turn}
        alone.append(taken[0])
        differences.append(taken[1] - taken[0])
    low, high = sign_interval(differences)
    return Added(median(alone), median(differences), low, high)


def cpu_seconds(command: Sequence[str], folder: Path) -> float:
    """User and system time of a process that is run to its end."""
    root = str(Path(__file__).parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    environment = {**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3"}
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with status {process.returncode}")
    return used.ru_utime + used.ru_stime


def median(values: Sequence[float]) -> float:
    """The middle one, or the mean of the two."""
    ranked = sorted(values)
    half = len(ranked) // 2
    return ranked[half] if len(ranked) % 2 else (ranked[half - 1] + ranked[half]) / 2


def sign_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95% interval of a median, by the normal approximation of the sign test.

    >>> sign_interval([float(value) for value in range(1, 16)])
    (4.0, 12.0)
    """
    ranked = sorted(values)
    outside = max(0, int((len(ranked) - 1.96 * len(ranked) ** 0.5) / 2))
    return ranked[outside], ranked[-1 - outside]


if __name__ == "__main__":
    sys.exit(main())
