"""Decision thresholds that several modules share."""

from __future__ import annotations

from typing import Final

LEAST_READING: Final = 2**20
"""Bytes a second below which disks are not what the pipeline waits for: any gives 50 times
as much."""

MOST_OF_RUN = 0.3
"""Age of an open tape, as a share of the run: its age is told each time it has doubled."""

SHORTEST_SECONDS: Final = 1e-4
"""Steps that take less on average are not searched for structure: the operating system's own
switches take as long (a time slice is 1 to 4 ms, the interpreter's 5 ms)."""
