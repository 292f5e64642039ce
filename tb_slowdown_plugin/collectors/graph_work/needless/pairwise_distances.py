"""Distances of all pairs of rows, by way of all their differences.

For n rows, k others, and d numbers in each, that makes tensors of n * k * d numbers, which are
written and read several times. The squares of the rows and one product of matrices give the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    MOVES_NOTHING,
    cost_of,
    sizes_of,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

_LARGE: Final = 100_000
"""Numbers of all differences from which they are looked at: fewer take 0.1 ms."""

_DIMENSIONS: Final = 3
_SUMS: Final = frozenset({"Mean", "Sum"})


class PairwiseDistances(NamedTuple):
    """The largest in a graph."""

    operation: Any
    """That takes the differences."""
    numbers: int
    """Of all differences."""
    share: float
    """Of what the graph computes: all that is done with tensors of that shape."""


def find_pairwise_distances(step: StepGraph) -> PairwiseDistances | None:
    """None where there are none, or where that can't be counted."""
    found = [each for each in step.operations if _sums_squares_of_differences(each)]
    if not found or step.run is None:
        return None
    largest = max(found, key=lambda each: math.prod(sizes_of(each.outputs[0])))
    sizes = sizes_of(largest.outputs[0])
    alike = [each for each in step.run if _has(each, sizes)]
    share = cost_of(alike) / step.cost
    return PairwiseDistances(largest, math.prod(sizes), share)


def _sums_squares_of_differences(operation: Any) -> bool:
    if operation.type not in ("Sub", "SquaredDifference") or not _takes_all_pairs(operation):
        return False
    made = operation.outputs[0]
    squares = [made] if operation.type == "SquaredDifference" else list(_squares_of(made))
    return any(each.type in _SUMS for square in squares for each in square.consumers())


def _takes_all_pairs(operation: Any) -> bool:
    """Whether each side is repeated along an axis of the other, beside one that both have."""
    made = sizes_of(operation.outputs[0])
    if len(made) < _DIMENSIONS or math.prod(made) < _LARGE:
        return False
    one, other = (
        [1] * (len(made) - len(sizes)) + sizes for sizes in map(sizes_of, operation.inputs)
    )
    axes = list(zip(one, other, strict=True))
    return (
        any(left == 1 < right for left, right in axes)
        and any(right == 1 < left for left, right in axes)
        and any(left == right > 1 for left, right in axes)
    )


def _squares_of(tensor: Any) -> Iterator[Any]:
    for each in tensor.consumers():
        is_square = each.type in ("Square", "Pow") or (
            each.type == "Mul" and all(taken is tensor for taken in each.inputs)
        )
        if is_square:
            yield each.outputs[0]


def _has(operation: Any, sizes: list[int]) -> bool:
    tensors = (*operation.inputs, *operation.outputs)
    return operation.type not in MOVES_NOTHING and any(sizes_of(each) == sizes for each in tensors)
