"""What several stages decide by: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Count, Parameter

LEAST_READING: Final = Count(
    2**20,
    unit="bytes a second",
    what="Below it disks are not what the pipeline waits for.",
    source="any disk gives 50 times as much",
)

MOST_OF_RUN: Final = Parameter(
    0.3,
    unit="share of run",
    what="Age of an open tape that is told.",
    source="its age is told each time it has doubled",
)

SHORTEST_SECONDS: Final = Parameter(
    1e-4,
    unit="seconds",
    what="Steps that take less on average are not searched for structure.",
    source="the operating system's own switches take as long (a time slice is 1 to 4 ms, the "
    "interpreter's 5 ms)",
)
