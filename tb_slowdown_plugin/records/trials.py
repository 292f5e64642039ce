"""What `tbslow try` has measured: of one process, and of a run, as their files have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FILE: Final = "experiments.json"
"""In the directory of the run's records."""

TIMES_FILE: Final = "trial.json"
"""What the process of a trial writes into its logdir: when its steps ended."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One experiment with its result. The fields are keys of the JSON, and a contract."""

    experiment: str
    step_seconds: tuple[float, float]
    """As it is, and with the intervention."""
    speedup: float
    interval: tuple[float, float]
    """Of the speed-up."""
    confirms: str | None
    """The cause that it proves: steps are faster, and the interval excludes 1."""
    changes_results: str
    adopt: str
    tests: tuple[str, ...] = ()
    """The causes that it tests."""
    tried_at: float = 0.0
    """Unix seconds."""
    text: str = ""
    """The same in words, in a report."""
