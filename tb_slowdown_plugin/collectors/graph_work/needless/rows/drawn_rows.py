"""Rows that a step draws by putting all of them in a random order, of which it takes a few.

Such as `tf.random.shuffle(tf.range(rows))[:256]` in the step's graph. Of 400,000 rows that takes 3
to 4 ms, where `tf.random.uniform` draws 256 numbers in some microseconds: a run of 1,500 steps of
a small network took 8.0 s, and 3.7 without (TensorFlow 2.21, two cores, 2026-11-29).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.needless.rows.whole_tables import FEW_ROWS
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    LOOKUPS,
    READ_WHAT_THEY_GIVE,
    cost_of,
    sorts_all,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_SHUFFLE: Final = "RandomShuffle"


class DrawnRows(NamedTuple):
    """Of one order of rows."""

    operation: Any
    """It puts them in order."""
    rows: int
    taken: int
    share: float
    """Of what the graph computes."""


def find_drawn_rows(step: StepGraph) -> DrawnRows | None:
    """Those that cost most; None where there are none."""
    found = [
        DrawnRows(each, rows, taken, cost_of(_find_only_for(each)) / step.cost)
        for each in step.run or ()
        if each.type == _SHUFFLE or sorts_all(each)
        for rows, taken in _count_rows(each)
        if taken <= FEW_ROWS * rows
    ]
    return max(found, key=lambda each: each.share, default=None)


def _count_rows(order: Any) -> Iterator[tuple[int, int]]:
    """All, and those that are taken: nothing where something takes all, or a number is unknown."""
    ordered = next((each for each in order.outputs if each.consumers()), None)
    if ordered is None or not ordered.shape.rank or ordered.shape[0] is None:
        return
    takers = [each for tensor in order.outputs for each in tensor.consumers()]
    if all(each.type in READ_WHAT_THEY_GIVE and _takes(each, ordered) for each in takers):
        taken = sum(math.prod(sizes_of(each.outputs[0])) for each in takers)
        yield ordered.shape[0], taken // math.prod(sizes_of(ordered)[1:])


def _takes(taker: Any, ordered: Any) -> bool:
    """Whether these are the rows, and not what says which ones of others are to be taken."""
    return taker.type not in LOOKUPS or taker.inputs[0] is ordered


def _find_only_for(order: Any) -> list[Any]:
    """It, and what is computed for it alone."""
    found = [order]
    for each in found:
        alone = (tensor.op for tensor in each.inputs if len(tensor.consumers()) == 1)
        found += [one for one in alone if one.type != "Placeholder"]
    return found
