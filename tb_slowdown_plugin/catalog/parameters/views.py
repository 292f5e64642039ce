"""Live runs, comparisons, ranges, and runs without records: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Count, Parameter

CONFIRM_SECONDS: Final = Parameter(
    15.0, unit="seconds of wall", what="How long a finding of a live run must last."
)

CONFIRM_STEPS: Final = Parameter(
    1.01,
    unit="times as many steps",
    what="How far the run must have come meanwhile.",
    source="in a run of hours 15 s are no second look",
)

FEWEST_BLOCKS_BEFORE: Final = Count(
    30,
    unit="blocks",
    what="Blocks of steps from which the newest of a live run may be told as slower.",
    source="the newest three of 33 that vary at random are the slowest in 1 of 5,456",
)

SMALLEST_EFFECT: Final = Parameter(
    0.03, unit="share of step", what="A smaller difference between runs is none, however sure."
)

ALARM_RATE: Final = Parameter(
    0.005,
    unit="share of comparisons",
    what="How often the interval of two equal programs may miss zero, two-sided.",
)

ALARM_RATE_OF_REPEATS: Final = Parameter(
    0.2,
    unit="share of alarm rate",
    what="What goes to that which the repeats show.",
    source="more finds smaller differences on quiet machines, and misses larger ones on busy ones",
)

ALARM_RATE_OF_ASSUMPTION: Final = Parameter(
    0.45,
    unit="share of alarm rate",
    what="What goes to the assumption on spread.",
    source="the rest is for the second look, at the faster half, which mostly sees the same",
)

USUAL_SPREAD: Final = Parameter(
    0.05,
    unit="share of step",
    what="Standard deviation between runs of one program that is believed without repeats.",
    source="1 to 6% of the faster halves of a Keras fit's steps beside busy neighbours "
    "(`benchmarks/comparison`)",
)

TIMED_SPREAD: Final = Parameter(
    0.2,
    unit="share of term",
    what="Standard deviation between runs of seconds that clocks timed, where the other side has "
    "none of them: one run a side is enough.",
)

ABSENT: Final = Parameter(
    0.01, unit="share of term", what="So little of what the other side has is none of it."
)

LEAST_OF_STEP: Final = Parameter(
    0.01, unit="share of step", what="Fewer seconds are no change in a selected range."
)

AS_LONG: Final = Parameter(
    1.5, unit="times", what="Up to it, rare events in a selection took as long as those before."
)

BUSY_DEVICE_PERCENT: Final = Parameter(
    20.0,
    unit="percent",
    what="Load of an accelerator from which an idle process waits for it.",
)

FEWEST_PAUSES: Final = Count(
    4, unit="pauses", what="From so many on, long steps of a run without records are planned."
)
