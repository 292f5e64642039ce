"""Series: pieces, growth, repeats, and events: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Count, Parameter

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

EVENT_GROWTH: Final = Parameter(
    0.2, unit="relative", what="Growth of the length of events that is told."
)

SPARSE: Final = Parameter(
    0.5, unit="share of steps", what="A series with a value in fewer steps is one of events."
)

NEGLIGIBLE_EVENT: Final = Parameter(0.05, unit="times the typical event", what="Less is no event.")

FEWEST_EPOCHS: Final = Count(
    3, unit="epochs", what="From how many epochs a stall at their beginning is told."
)

CONCENTRATED_AT_EPOCHS: Final = Parameter(
    0.6, unit="share of seconds", what="How much of an account must stand beside epoch boundaries."
)

EPOCH_STALL: Final = Parameter(
    0.5,
    unit="times a usual step",
    what="Excess of the step at an epoch's beginning that is a stall.",
)

EPOCHS_WITH_STALL: Final = Parameter(
    0.7, unit="share of epochs", what="How many epochs must have it."
)

FIRST_PASS_ABOVE: Final = Parameter(
    1.2, unit="times later passes", what="What a first pass must take to be warm-up."
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

CURVE_PRICE: Final = Parameter(
    1.0,
    unit="noise variances x log of buckets",
    what="What each free parameter of a curve must save.",
)

CURVE_MISFIT: Final = Parameter(
    0.01, unit="relative", what="How far a sixteenth of the stretch may be beside the curve."
)

FEWEST_TURNS: Final = Count(8, unit="turns", what="From how many repeats work is periodic.")

PERIOD_SIGNIFICANCE: Final = Parameter(7.0, unit="standard errors", what="Certainty of a period.")

PERIOD_HEIGHT: Final = Parameter(
    0.15, unit="times a usual step", what="What periodic work must add to its steps."
)

TURNS_WITH_WORK: Final = Parameter(
    0.6, unit="share of turns", what="How many turns the work must come in."
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

RISE_LEFT_OVER: Final = Parameter(
    0.1, unit="share of rise", what="A rise of which less is left has ended."
)

LONGEST_DIP: Final = Parameter(
    0.2, unit="share of run", what="A lower piece inside of a rise, up to which the rise goes on."
)

ABRUPT: Final = Parameter(
    0.5, unit="share of step", what="What must stand right at a cut to call it a jump."
)

SEAM_OF_FITS: Final = Parameter(
    0.25, unit="share of growth", what="A smaller jump beside growth is where the fit of one ended."
)

BORNE_OUT_BY_MEANS: Final = Parameter(
    0.5, unit="share of step", what="What of a step in the medians the means must show, too."
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
