"""Step times without what accounts hold: warm-up, shifts, stalls: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Count, Parameter

SHORT_RUN: Final = Count(2000, unit="steps", what="A shorter run needs `SIGNIFICANCE_OF_SHORT`.")

LONGEST_USUAL_STALL: Final = Parameter(
    4.0, unit="times the usual stall", what="A longer one has another reason on top."
)

STALL: Final = Parameter(
    1.0,
    unit="times a usual step",
    what="Excess from which a single step is a stall, if it also is 8 standard deviations.",
)

RARE_LATER: Final = Parameter(
    0.98,
    unit="quantile of blocks",
    what="What that excess must reach of the later blocks.",
    source="of two sorts of steps that are mixed, the slow ones may stand together",
)
