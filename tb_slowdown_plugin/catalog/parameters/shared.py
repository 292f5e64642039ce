"""What several stages decide by: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Count, Parameter

MAJORITY: Final = Parameter(
    0.5,
    unit="share of whole",
    what="Most of something.",
    source="more than half leaves room for no other of its size",
)

MOSTLY: Final = Parameter(
    0.7,
    unit="share of whole",
    what="So much of something that the rest needs no reason of its own.",
    source="beside a process that kept one of two cores busy, programs computed on 0.55 of their "
    "cores at most; with three threads of their own on 0.75; training threads of graphs on 0.2 "
    "to 0.6 of the wall, of eager steps on 0.9",
)

NEARLY_ALL: Final = Parameter(
    0.9,
    unit="share of whole",
    what="What is left says nothing any more.",
    source="TensorFlow leaves 5 to 10% of a device's memory to others",
)

ALL_BUT_ROUNDING: Final = Parameter(
    0.99,
    unit="share of whole",
    what="All of it, in a text of three digits.",
    source="three digits",
)

MATTERS: Final = Parameter(
    0.25, unit="share of whole", what="A part that is taken for a reason of the whole."
)

TELLING: Final = Parameter(
    0.1,
    unit="share of whole",
    what="A part, or the rise of one, that is told of.",
    source="the share of one place in 60 samples of a stack varies by 0.06",
)

NEGLIGIBLE: Final = Parameter(
    0.05, unit="share of whole", what="So little of something is left out of account."
)

ALIKE: Final = Parameter(
    0.02,
    unit="relative",
    what="Levels that differ by less are told as the same.",
    source="medians of ten steps differ by chance by so much",
)

LARGER: Final = Parameter(
    1.15,
    unit="times the other",
    what="Clearly larger than the other, without a test.",
    source="a history that grows, sampled amid temporary tensors, is followed by one rise 0.98 "
    "times as closely as by a line, a rise in the middle of a run 1.33 times",
)

FAR_BEYOND: Final = Parameter(
    2.0,
    unit="times the usual",
    what="Too large to be one of the usual ones.",
    source="of two equal workers one was late up to 1.6 times as much; delay was 8 times the "
    "usual one in a healthy program whose thread computed 1.5 times as long beside neighbours",
)

STANDS_OUT: Final = Parameter(
    3.0, unit="times the usual variation", what="A difference that the rest of the run lacks."
)

OUTLIER: Final = Parameter(
    6.0,
    unit="standard deviations",
    what="A step that the noise of the others does not explain.",
)

SEVERAL: Final = Count(3, unit="times", what="From so many on, something happens again and again.")

SERIES: Final = Count(
    8,
    unit="times",
    what="From so many on, what they have in common is looked for.",
    source="8 in order have z = 3.5",
)

ENOUGH_STEPS: Final = Count(
    20, unit="steps", what="Steps whose median stands for them, and those it is compared with."
)

NOTABLE_GROWTH: Final = Parameter(
    0.2, unit="relative", what="Growth of what comes again, or is kept, that is told."
)

START_SHARE: Final = Parameter(
    0.02, unit="share of run", what="What comes so early was there from the start."
)

UNDER_PRESSURE: Final = Parameter(
    0.1,
    unit="share of time",
    what="Time in which something waited for a disk, or for memory (PSI).",
    source="under 1% in healthy runs of the demo programs",
)

IDLE_CORES: Final = Parameter(
    0.2,
    unit="cores",
    what="Cores below which a process waits.",
    source="at least 0.4 in 80 recordings where a step computes, at most 0.19 where one waits "
    "(`tests/recordings`)",
)

LEAST_READING: Final = Count(
    2**20,
    unit="bytes a second",
    what="Below it disks are not what the pipeline waits for.",
    source="any disk gives 50 times as much",
)

SHORTEST_SECONDS: Final = Parameter(
    1e-4,
    unit="seconds",
    what="Steps that take less on average are not searched for structure.",
    source="the operating system's own switches take as long (a time slice is 1 to 4 ms, the "
    "interpreter's 5 ms)",
)
