"""Runs the programs that are tuned on, functions and scripts, and prints their table."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from benchmarks.accuracy.styles import Answer, ProgramSet, main, monitored, script_in
from benchmarks.accuracy.tune.answers import ANSWERS
from benchmarks.accuracy.tune.script_answers import SCRIPTS

_HERE: Final = Path(__file__).parent
_RUN: Final = (
    "import sys; from benchmarks.accuracy.tune import slow, healthy; "
    "name, logdir = sys.argv[1:]; "
    "(getattr(slow, name, None) or getattr(healthy, name))(logdir)"
)


def source_of(name: str) -> Path:
    """Where the program is."""
    return script_in(_HERE / "programs", name) if name in SCRIPTS else _HERE / "slow.py"


def command_of(name: str) -> list[str]:
    """A script runs as it is; a function marks its steps itself."""
    if name in SCRIPTS:
        return monitored(source_of(name))
    return [sys.executable, "-c", _RUN, name, "logs"]


TUNE: Final = ProgramSet(
    name="tune",
    answers={**{name: Answer(causes) for name, causes in ANSWERS.items()}, **SCRIPTS},
    command=command_of,
    source=source_of,
)

if __name__ == "__main__":
    main(TUNE)
