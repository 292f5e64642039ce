"""Causes and planned work: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Count, Parameter

AFFORDABLE: Final = Parameter(
    0.01,
    unit="share of wall",
    what="What saving or logging may take, where an interval is proposed.",
    source="chosen by hand: a long run hardly feels it",
)

USUAL_INTERVAL_SECONDS: Final = Count(
    600, unit="seconds", what="Proposed between two saves whose cost is not known."
)

WANDERING_SECONDS: Final = Parameter(
    2.0,
    unit="seconds",
    what="Unexplained loss in steps that take up to twice as long, up to which the pace of the "
    "processor is as good a reason.",
    source="seven of thirty healthy programs of 4 to 15 s computed 1.1 to 1.7 times as long for "
    "some seconds, on cores that nothing else used: 0.3 to 1.4 s each",
)

PLACE_SIGNIFICANCE: Final = Parameter(
    2.0, unit="standard errors", what="Rise of a place's share of the samples of a stack."
)

NEW_PER_STEP: Final = Parameter(
    0.05,
    unit="a step",
    what="New operations, or new batch shapes, by which steps get slower.",
)

LEAST_CORRELATION: Final = Parameter(
    0.85, unit="correlation", what="Lost seconds and a signal that moves with them."
)

LEAST_FAULTS: Final = Parameter(
    1.0,
    unit="major faults a step",
    what="A stretch under pressure of memory.",
    source="each is a read from disk of 0.1 to 10 ms; a healthy run has some at the start",
)

LEAST_GROWN_BYTES: Final = Count(
    2**20, unit="bytes", what="Growth of memory that is taken for a reason of slower steps."
)

SLOWEST_COMPUTING: Final = Parameter(
    2e8,
    unit="bytes a second",
    what="Steps that get slower than by working on all bytes kept have another reason.",
    source="one thread element by element does about 1 GB/s; 20 GB/s in a concatenation of 131 MB",
)

SLOWEST_WRITING: Final = Parameter(
    1e7,
    unit="bytes a second",
    what="The same of bytes that are written.",
    source="a slow network disk",
)

LEAST_WRITTEN_GROWTH: Final = Count(
    2**16, unit="bytes a step", what="Growth of what a step writes that is told."
)

MUCH_OUTPUT: Final = Count(
    10 * 2**20, unit="bytes", what="Growth of the logdir and checkpoints that is told."
)

LITTLE_SPACE: Final = Count(10 * 2**30, unit="bytes", what="Space left on the disk that is told.")

LITTLE_CALLBACK_SECONDS: Final = Parameter(
    1e-3,
    unit="seconds",
    what="What a callback takes that has nothing to do.",
    source="0.2 to 0.5 ms of Keras's `TensorBoard` after a batch without anything to write",
)

MANY_OPERATIONS: Final = Count(
    2000,
    unit="operations",
    what="A graph that looks unrolled.",
    source="a train step of 50 layers has about 1,500",
)

MOST_REBUILT: Final = Count(
    2,
    unit="times",
    what="So often a plan builds a larger step; what is larger each time grows with the run.",
)

LONGEST_RHYTHM: Final = Count(
    32,
    unit="steps",
    what="Work that comes at least so often is a part of the program's plan.",
    source="gradients are accumulated over so few",
)
