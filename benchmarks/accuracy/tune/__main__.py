"""Runs the programs that are tuned on, and prints their table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from benchmarks.accuracy.styles import Answer, ProgramSet, main
from benchmarks.accuracy.tune.answers import ANSWERS

_RUN: Final = (
    "import sys; from benchmarks.accuracy.tune import slow, healthy; "
    "name, logdir = sys.argv[1:]; "
    "(getattr(slow, name, None) or getattr(healthy, name))(logdir)"
)
TUNE: Final = ProgramSet(
    name="tune",
    answers={name: Answer(causes) for name, causes in ANSWERS.items()},
    command=lambda name: [sys.executable, "-c", _RUN, name, "logs"],
    source=lambda _name: Path(__file__).parent / "slow.py",
)

if __name__ == "__main__":
    main(TUNE)
