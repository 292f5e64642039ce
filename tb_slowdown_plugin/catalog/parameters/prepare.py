"""What a step is, and which steps are of one kind: decision thresholds."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameter import Count, Parameter

SLOW_FIRST_STEPS: Final = Count(
    20, unit="steps", what="Leading steps that may be slow because graphs are built."
)

SLOW_FIRST_STEPS_OF_SHORT: Final = Count(
    3,
    unit="steps",
    what="The same in a short run.",
    source="the first trace, the one that creates variables, and the first run of the graph",
)

BUILDING_STEPS: Final = Count(
    12, unit="steps", what="Steps in which a program builds what it runs from then on."
)

FEWEST_OF_A_KIND: Final = Count(
    12,
    unit="steps",
    what="Steps of a kind from which something is said about it.",
    source="as of a run that has no other kind",
)

MOST_REMAINDERS: Final = Count(
    2,
    unit="sizes",
    what="Smaller batches that a settled function meets.",
    source="the last batch of the training data and that of the validation data",
)

MOST_STAGES: Final = Count(
    5, unit="times", what="So often a model is compiled again for another stage of its training."
)

EPOCHS_OF_STAGE: Final = Count(
    2, unit="epochs", what="A shorter stage may as well be a `compile()` in a loop."
)

WRITTEN_BYTES: Final = Count(
    256 * 1024,
    unit="bytes",
    what="Written around a slow step, from which it wrote a file, if nothing else did.",
    source="well above a line of a log, well below a file that takes long",
)

STEPS_AROUND: Final = Count(
    25, unit="steps", what="Steps on each side of a slow one that say what it takes else."
)

LIKE_SEEN: Final = Parameter(
    2.0,
    unit="times the usual price",
    what="Up to which, either way, a slow step that was not looked at is like those that were.",
)

SEEN_OF_ALIKE: Final = Parameter(
    0.25,
    unit="share of such steps",
    what="Steps that must have been seen, all of them in one line.",
    source="a step of 50 ms is seen in one of four looks",
)

MOSTLY_WRITING: Final = Parameter(
    0.5,
    unit="share",
    what="Of the slow steps of a line, in which it writes, from which they all are writing; and of "
    "such a step, that no account holds.",
)
