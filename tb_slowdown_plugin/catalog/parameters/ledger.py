"""Verdicts, and accounts of measured seconds: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Count, Parameter

SLOW_START_FLOOR: Final = Parameter(
    0.2,
    unit="share of wall",
    what="Warm-up that alone is a verdict.",
    source="contract of the report",
)

UNEXPLAINED_FLOOR: Final = Parameter(
    0.1,
    unit="share of wall",
    what="Unexplained seconds that are a slowdown.",
    source="stalls of a busy machine, which nobody measured, take a few percent of a healthy run",
)

GROWN_FLOOR: Final = Parameter(
    0.05, unit="share of wall", what="The same where the engine found that the run got slower."
)

UNEXPLAINED_OF_START: Final = Parameter(
    0.2,
    unit="times warm-up",
    what="Unexplained seconds up to which a slow start stays the verdict.",
)

DELAY_TIED: Final = Parameter(
    0.5,
    unit="correlation",
    what="Delay and step time over stretches from which they are tied together.",
)

OWN_DELAY: Final = Parameter(
    0.1, unit="share of steps", what="Steps with least delay, or computing: it is their own."
)

FASTEST_STEPS: Final = Parameter(
    0.02, unit="share of steps", what="Steps that are taken for the fastest."
)

FEWEST_QUIET_STEPS: Final = Parameter(
    0.2, unit="share of steps", what="Quiet steps that are needed to know the undisturbed level."
)

LEAST_DELAY: Final = Parameter(
    0.01, unit="share of step", what="Less delay is what a healthy scheduler does."
)

SLICE_SECONDS: Final = Parameter(
    3e-3,
    unit="seconds",
    what="For how long another program keeps a core at a time, so that an event takes longer.",
    source="1 to 4 ms under Linux",
)

GROWN_EVENTS: Final = Parameter(
    0.15, unit="share of seconds", what="The same for events that take longer each time."
)

REGULAR_GAP: Final = Parameter(
    0.1, unit="relative", what="How far a gap may be from the usual one to be regular."
)

TEARDOWN_SECONDS: Final = Parameter(
    3.0,
    unit="seconds",
    what="What TensorFlow itself takes to take a pipeline down.",
    source="up to 0.3 s on idle cores in `tests/programs`, 1.3 s with stages in Python, 2.6 s "
    "beside a process that takes one of two cores",
)

START_SECONDS: Final = Parameter(
    0.1,
    unit="seconds",
    what="What TensorFlow itself takes to set a pipeline up and give the first batch of a pass.",
    source="30 to 70 ms in `fit` on arrays and on a few stages, two idle cores "
    "(`benchmarks/accuracy/tune/programs`: random_search, flat_prices)",
)

START_FLOOR: Final = Parameter(
    0.3,
    unit="share of wall",
    what="From here on the starts of passes count although each takes less than that: the passes "
    "are too short.",
    source="estimated: passes of 9 steps of 3 ms spend half of their time in it, those of 100 "
    "steps up to a fifth",
)

ASKING_SECONDS: Final = Parameter(
    0.5e-3,
    unit="seconds",
    what="What asking for a batch that is ready takes.",
    source="0.1 to 0.5 ms in the healthy runs of `tests/recordings`",
)

OWN_WAIT_SECONDS: Final = Parameter(
    100e-6,
    unit="seconds",
    what="Mean wait for a core after a switch, times what is waited for each second computed, "
    "that the process's own threads make.",
    source="0 to 76 us in the healthy programs of `tests/programs` on two and four idle cores; "
    "from 100 us on beside a process that takes one of two",
)

OWN_WAIT_SHARE: Final = Parameter(
    0.2,
    unit="share of time",
    what="How long the training thread waits for a core of its own process's doing.",
    source="0 to 18% in the same programs on two idle cores; 2 to 48% beside that neighbour",
)

MUCH_LONGER: Final = Parameter(
    0.2,
    unit="relative",
    what="How much longer a step computes before it is its own.",
    source="up to this in 95% of 255 recordings of healthy programs beside a process that took "
    "one of two cores; at least 0.4 where there is more to do (`python -m "
    "benchmarks.accuracy.busy`)",
)

FEWEST_STEPS_TO_JUDGE: Final = Count(
    12,
    unit="steps",
    what="Steps below which there is no verdict, those included that build the graph.",
    source="of 60 jumps by half in 12 steps 60 stand out of noise of 5%, 42 out of 10%",
)

SURE_STEPS: Final = Count(
    100,
    unit="steps",
    what="Steps after warm-up from which stalls and repeats are looked for as well.",
)

VISIBLE_CHANGE: Final = Parameter(
    0.5,
    unit="relative",
    what="Change in the middle of a short run that must be visible for a verdict.",
)

CHANGE_OF_SHORT_RUN: Final = Parameter(
    0.3,
    unit="relative",
    what="Change of level that is told of a short run.",
    source="26 of 1,260 healthy runs of 12 to 98 steps have a smaller one that looks sure "
    "(`benchmarks.accuracy`)",
)

RECURRING_SHARE: Final = Parameter(
    0.1,
    unit="share of wall",
    what="Recurring measured seconds that are named in a short run, together.",
)

SINGLE_SHARE: Final = Parameter(
    0.3,
    unit="share of wall",
    what="The same for what came once or twice.",
    source="it may belong to the start or the end of the run",
)

LEAST_EVENT_SECONDS: Final = Parameter(
    0.01,
    unit="seconds",
    what="A recurring event beyond what the operating system does to a clock.",
    source="a time slice is 1 to 4 ms, the interpreter's switch 5 ms",
)

SURE_EVENTS: Final = Count(
    10,
    unit="events",
    what="Events of what a healthy run never spends from which their length doesn't matter.",
)

GROWTH_FLOOR: Final = Parameter(
    0.005,
    unit="share of wall",
    what="Growth, and warm-up, that is named.",
    source="contract of the report",
)

FLAT_FLOOR: Final = Parameter(
    0.05,
    unit="share of wall",
    what="A configured cost that is named although it does not grow.",
    source="contract of the report",
)

INPUT_FLOOR: Final = Parameter(
    0.15,
    unit="share of wall",
    what="The same for waiting for input.",
    source="contract of the report",
)

CONTENTION_FLOOR: Final = Parameter(
    0.01,
    unit="share of wall",
    what="Growth of contention that is named.",
    source="estimated, and nobody can do anything about less: 0.8% were taken for others' in "
    "one healthy program on four idle cores",
)
