"""Runs all sealed programs once, as they are, with `tbslow run`, and prints their table."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from benchmarks.accuracy.sealed.answers import ANSWERS
from benchmarks.accuracy.styles import ProgramSet, main, monitored, script_in

_PROGRAMS: Final = Path(__file__).parent / "programs"


def script_of(name: str) -> Path:
    """Where the program is."""
    return script_in(_PROGRAMS, name)


def command_of(name: str) -> list[str]:
    """Runs it under the monitor."""
    return monitored(script_of(name))


SEALED: Final = ProgramSet("sealed", ANSWERS, command_of, script_of)

if __name__ == "__main__":
    main(SEALED)
