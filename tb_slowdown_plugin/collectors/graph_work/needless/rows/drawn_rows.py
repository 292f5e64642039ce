"""Rows of which a step takes a few, after all of them were put in an order.

Such as `tf.random.shuffle(tf.range(rows))[:256]` in the step's graph, where `tf.random.uniform`
draws 256 numbers in some microseconds, or `tf.sort(losses)[:, :32]`: to sort 2,000,000 numbers
takes 40 times as long as `tf.math.top_k` of 64 of them (`benchmarks/operation_costs.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.needless.rows.whole_tables import FEW_ROWS
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    READ_WHAT_THEY_GIVE,
    cost_of,
    sorts_all,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_SHUFFLE: Final = "RandomShuffle"
_SIGN: Final = "Neg"
_RANDOM: Final = ("Random", "StatelessRandom")
"""How the types of operations begin that make random numbers."""


class DrawnRows(NamedTuple):
    """Of one order of rows."""

    operation: Any
    """It puts them in order."""
    rows: int
    taken: int
    largest: float
    """1 where they are numbers in order of their size, of which the largest or smallest are
    taken."""
    share: float
    """Of what the graph computes."""


def find_drawn_rows(step: StepGraph) -> DrawnRows | None:
    """Those that cost most; None where there are none."""
    found = [
        DrawnRows(each, rows, taken, _is_of_sizes(each), cost_of(_find_only_for(each)) / step.cost)
        for each in step.run or ()
        if each.type == _SHUFFLE or sorts_all(each)
        for rows, taken in _count_rows(step, each)
        if taken <= FEW_ROWS * rows
    ]
    return max(found, key=lambda each: each.share, default=None)


def _is_of_sizes(order: Any) -> float:
    sorted_by = order.inputs[0].op
    while sorted_by.type == _SIGN:
        sorted_by = sorted_by.inputs[0].op
    return float(order.type != _SHUFFLE and not sorted_by.type.startswith(_RANDOM))


def _count_rows(step: StepGraph, order: Any) -> Iterator[tuple[int, int]]:
    """All, and those that are taken: nothing where something takes all, or a number is unknown."""
    ordered = next((each for each in order.outputs if each.consumers()), None)
    axis = 0 if order.type == _SHUFFLE else -1
    if ordered is None or not ordered.shape.rank or ordered.shape[axis] is None:
        return
    takers = list(_find_takers(step, order.outputs))
    if takers and all(_takes(each, given, ordered, axis) for each, given in takers):
        taken = sum(math.prod(sizes_of(each.outputs[0])) for each, _ in takers)
        sizes = sizes_of(ordered)
        yield sizes[axis], taken * sizes[axis] // math.prod(sizes)


def _find_takers(step: StepGraph, tensors: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """What takes any of them, and that: the backward pass takes what the forward one takes."""
    for tensor in tensors:
        for each in tensor.consumers():
            if each.type == _SIGN and each in step.forward:  # TensorFlow sorts by the largest
                yield from _find_takers(step, each.outputs)
            elif each in step.forward or each not in step.learning:
                yield each, tensor


def _takes(taker: Any, given: Any, ordered: Any, axis: int) -> bool:
    """Whether these are some of the rows, and not what says which ones of others are taken."""
    if taker.type not in READ_WHAT_THEY_GIVE or taker.inputs[0] is not given:
        return False
    if axis == 0:
        return True
    others, made = ordered.shape.as_list()[:-1], taker.outputs[0].shape.as_list()
    return made == others or (len(made) > len(others) and made[:-1] == others)


def _find_only_for(order: Any) -> list[Any]:
    """It, and what is computed for it alone."""
    found = [order]
    for each in found:
        alone = (tensor.op for tensor in each.inputs if len(tensor.consumers()) == 1)
        found += [one for one in alone if one.type != "Placeholder"]
    return found
