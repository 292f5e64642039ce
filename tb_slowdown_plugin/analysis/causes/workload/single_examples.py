"""A function that a step calls for one example after the other: a note, and a headline.

How much of a call is computing that all examples need isn't known, so nothing counts as lost: a
step on 64 examples of a layer of 128 units takes 38 to 50 ms by 64 calls, and 1.3 to 2.5 by one
with all (TensorFlow 2.21, two cores, 2026-11-30).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.text.wording import duration, percent, whole_percent
from tb_slowdown_plugin.catalog.names import STEP_NOT_CHOSEN
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, SERIES
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Trace

_SHAPE: Final = re.compile(r"shape=\[([^\]]*)\]")
_ONE: Final = "1"


class SingleExamples(NamedTuple):
    """Calls of one function that computes gradients."""

    place: str
    """The function: "grads_of (train.py:5)"."""
    calls: int
    """In a step."""
    seconds: float
    share: float
    """Of the run."""


def tell_single_examples(case: Case) -> Iterable[str]:
    """What they take, and how one call does for all of them."""
    if (found := _find(case)) is not None:
        yield (
            f"Each step calls {found.place} {found.calls} times, for one example each: "
            f"{duration(found.seconds)}, {percent(found.share)} of the run. To start a graph takes "
            "as long for one example as for all: call it once, with a batch of them. Where the "
            "gradient of each example is needed by itself, `tf.vectorized_map` makes one graph for "
            "all. It isn't counted as lost, as what the examples themselves take isn't known."
        )


def tell_single_examples_shortly(case: Case) -> str:
    """The same in a headline."""
    if (found := _find(case)) is None:
        return ""
    return (
        f"But {whole_percent(found.share)} of it went to {found.calls} calls of {found.place} in "
        "each step, for one example each."
    )


def _find(case: Case) -> SingleExamples | None:
    steps = len(case.run.steps) * case.run.steps_per_row
    for _, fact in case.run.facts(STEP_NOT_CHOSEN):
        calls = fact.numbers.get("calls", 0.0) / max(steps, 1)
        seconds = fact.numbers.get("seconds", 0.0)
        share = case.wall_share(seconds)
        if (
            fact.numbers.get("gradients")
            and calls >= SERIES
            and share >= MATTERS
            and _takes_one(case.run, fact.subject)
        ):
            return SingleExamples(fact.subject, round(calls), seconds, share)
    return None


def _takes_one(run: Run, function: str) -> bool:
    """Whether the first dimension of all that a function is given is 1, in each of its graphs."""
    signatures = [
        " ".join(trace.signature)
        for _, trace in run.all_of(Trace)
        if f"{trace.function} ({trace.location})" == function and trace.signature
    ]
    shapes = [shape for each in signatures for shape in _SHAPE.findall(each) if shape]
    return bool(shapes) and all(shape.partition(",")[0] == _ONE for shape in shapes)
