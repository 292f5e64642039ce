"""What is right of each program: causes that may be named first, and where; or nothing at all."""

from __future__ import annotations

from typing import Final

from benchmarks.accuracy.styles import Answer

ANSWERS: Final[dict[str, Answer]] = {}
"""By program; none until new ones are written."""

SHARES: Final[dict[str, float]] = {}
"""By slow program: what its defect took of the wall clock, by a stopwatch in a plain run."""
