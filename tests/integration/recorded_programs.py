"""The recordings of `tests/programs`, and the report of each beside its truth.

The recordings in `tests/recordings` were made by `scripts/record_programs`; beside each stands
what its injector knows to be true.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # `benchmarks` is not installed

from benchmarks.accuracy.real import Outcome, read_outcome

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "programs"
RECORDINGS = ROOT / "tests" / "recordings"
NAMES = sorted(path.parent.name for path in RECORDINGS.glob("*/truth.json"))
SICK = [name for name in NAMES if not name.endswith("_healthy") and "control" not in name]


def outcome(name: str) -> Outcome:
    """The report of a committed recording beside its truth; made once."""
    if name not in _outcomes:
        _outcomes[name] = read_outcome(RECORDINGS / name)
    return _outcomes[name]


_outcomes: dict[str, Outcome] = {}
