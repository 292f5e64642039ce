"""Series: pieces, growth, repeats, and events: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Parameter

CONSTANT_PENALTY: Final = Parameter(
    3.0,
    unit="noise variances x log of buckets",
    what="What cutting off a piece of one level must save.",
)

LINEAR_PENALTY: Final = Parameter(
    5.0,
    unit="noise variances x log of buckets",
    what="What cutting off a piece with a slope must save.",
)

SHORTEST_PIECE: Final = Parameter(0.012, unit="share of run", what="Shortest piece of one level.")

SHORTEST_LINE: Final = Parameter(0.2, unit="share of run", what="Shortest piece with a slope.")

PERSISTENCE: Final = Parameter(
    0.05, unit="share of run", what="How long a change must last to be believed."
)

SMALLEST_CHANGE: Final = Parameter(
    0.05, unit="relative", what="Change of level that is worth telling."
)

SIGNIFICANCE: Final = Parameter(
    5.0, unit="standard errors", what="Certainty of a change, in long-run noise."
)

SIGNIFICANCE_OF_SHORT: Final = Parameter(
    6.0,
    unit="standard errors",
    what="The same in runs of fewer than 2,000 steps, whose slow noise is known less well.",
)

TREND_SIGNIFICANCE: Final = Parameter(
    3.0,
    unit="standard errors",
    what="Certainty with which a series grows, by Kendall's test on at most 24 parts.",
    source="1 in 740 by chance; 8 parts in order give 3.5, 24 give 6.9",
)

EPOCH_STALL: Final = Parameter(
    0.5,
    unit="times a usual step",
    what="Excess of the step at an epoch's beginning that is a stall.",
)

SMALLEST_GROWTH: Final = Parameter(
    0.08,
    unit="relative",
    what="Growth over a stretch that is worth telling.",
    source="less is told apart from slow noise too rarely",
)

LATEST_ONSET: Final = Parameter(
    0.75, unit="share of run", what="Growth that begins later is not fitted."
)

CURVE_MISFIT: Final = Parameter(
    0.01, unit="relative", what="How far a sixteenth of the stretch may be beside the curve."
)

NEAR_A_TURN: Final = Parameter(
    0.25, unit="relative", what="How far a gap may be from the median gap to count as one turn."
)

GAPS_BY_CHANCE: Final = Parameter(
    0.19,
    unit="share of gaps",
    what="Share of random gaps that are near their median.",
    source="0.5^0.75 - 0.5^1.25 = 0.174 of exponential gaps, with room for rounding to whole steps",
)

LONGEST_DIP: Final = Parameter(
    0.2, unit="share of run", what="A lower piece inside of a rise, up to which the rise goes on."
)

MEANS_SIGNIFICANCE: Final = Parameter(
    4.0, unit="standard errors", what="Certainty of a step in the means."
)

LATEST_WARM_UP_END: Final = Parameter(
    0.2,
    unit="share of run",
    what="How long a slow beginning still is warm-up.",
    source="Barrett et al. 2017",
)

LATE_CUT: Final = Parameter(
    3.0,
    unit="buckets, steps, or squared noise over jump",
    what="How far a cut may stand from its jump.",
    source="so many steps are needed to tell the two levels apart",
)

EXCESS: Final = Parameter(
    0.15,
    unit="times a usual step",
    what="What steps with an event, at a period, or in warm-up must take more.",
)

REPEAT_SIGNIFICANCE: Final = Parameter(
    7.0, unit="standard errors", what="Certainty that steps with an event, or at a period, do."
)
