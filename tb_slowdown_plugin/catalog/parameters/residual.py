"""Step times without what accounts hold: warm-up, shifts, stalls: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Count, Parameter

SHORT_RUN: Final = Count(2000, unit="steps", what="A shorter run needs `SIGNIFICANCE_OF_SHORT`.")

CONTENDED_ELSEWHERE: Final = Parameter(
    0.25,
    unit="quantile of steps",
    what="Contention that is taken for usual in the rest of the run.",
)

LONGEST_USUAL_STALL: Final = Parameter(
    4.0, unit="times the usual stall", what="A longer one has another reason on top."
)

STALL: Final = Parameter(
    1.0,
    unit="times a usual step",
    what="Excess from which a single step is a stall, if it also is 8 standard deviations.",
)

FEWEST_STEPS_WITH_EVENT: Final = Count(
    10, unit="steps", what="Steps with an event from which they are compared with the others."
)

FEWEST_STEPS_WITHOUT_EVENT: Final = Count(
    20, unit="steps", what="Steps without it that are needed for that."
)

EXCESS_BESIDE_EVENT: Final = Parameter(
    0.15, unit="relative", what="What a step with an event must take more."
)

EXCESS_SIGNIFICANCE: Final = Parameter(7.0, unit="standard errors", what="Certainty of that.")

EXCESS_AT_FIRST: Final = Parameter(
    0.15,
    unit="relative",
    what="Excess right after the first, slow steps, from which they fade out.",
)

RARE_LATER: Final = Parameter(
    0.98,
    unit="quantile of blocks",
    what="What that excess must reach of the later blocks.",
    source="of two sorts of steps that are mixed, the slow ones may stand together",
)
