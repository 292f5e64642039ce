"""Distances of all pairs of rows, by way of all their differences.

For n rows, k others, and d numbers in each, that makes tensors of n * k * d numbers, which are
written and read several times. The squares of the rows and one product of matrices give the same;
that product alone does where all pairs are multiplied, and added up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import MOVES_NOTHING, cost_of
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_LARGE: Final = 100_000
"""Numbers of all differences from which they are looked at: fewer take 0.1 ms."""

_DIMENSIONS: Final = 3
_REPEATS: Final = frozenset({"BroadcastTo", "Identity", "Tile"})
_SUMS: Final = frozenset({"Mean", "Sum"})


class PairwiseDistances(NamedTuple):
    """The largest in a graph."""

    operation: Any
    """That takes the differences."""
    numbers: int
    """Of all differences."""
    products: float
    """1 where they are products that are added up, as in a product of matrices."""
    share: float
    """Of what the graph computes: all that is done with tensors of that shape."""


def find_pairwise_distances(step: StepGraph) -> PairwiseDistances | None:
    """None where there are none, or where that can't be counted."""
    found = [
        each
        for each in step.operations
        if _sums_squares_of_differences(each) or _sums_products(each)
    ]
    if not found or step.run is None:
        return None
    largest = max(found, key=lambda each: math.prod(sizes_of(each.outputs[0])))
    sizes = sizes_of(largest.outputs[0])
    alike = [each for each in step.run if _has(each, sizes)]
    share = cost_of(alike) / step.cost
    return PairwiseDistances(largest, math.prod(sizes), float(largest.type == "Mul"), share)


def _sums_squares_of_differences(operation: Any) -> bool:
    if operation.type not in ("Sub", "SquaredDifference") or not _takes_all_pairs(operation):
        return False
    made = operation.outputs[0]
    squares = [made] if operation.type == "SquaredDifference" else list(_squares_of(made))
    return any(each.type in _SUMS for square in squares for each in square.consumers())


def _sums_products(operation: Any) -> bool:
    """Whether it multiplies all pairs for their sums along the axis that both have."""
    from tensorflow.python.framework import tensor_util

    if operation.type != "Mul" or not _takes_all_pairs(operation):
        return False
    common = {axis for axis, (left, right) in enumerate(_axes_of(operation)) if left == right > 1}
    rank = operation.outputs[0].shape.rank
    for each in operation.outputs[0].consumers():
        along = tensor_util.constant_value(each.inputs[1]) if each.type in _SUMS else None
        if along is not None and common.issuperset(axis % rank for axis in along.ravel().tolist()):
            return True
    return False


def _takes_all_pairs(operation: Any) -> bool:
    """Whether each side is repeated along an axis of the other, beside one that both have."""
    made = sizes_of(operation.outputs[0])
    if len(made) < _DIMENSIONS or math.prod(made) < _LARGE:
        return False
    axes = _axes_of(operation)
    return (
        any(left == 1 < right for left, right in axes)
        and any(right == 1 < left for left, right in axes)
        and any(left == right > 1 for left, right in axes)
    )


def _axes_of(operation: Any) -> list[tuple[int, int]]:
    """The sizes of both sides, along each axis of the result, before they are repeated."""
    rank = operation.outputs[0].shape.rank
    sides = (sizes_of(_before_repeated(each)) for each in operation.inputs)
    one, other = ([1] * (rank - len(sizes)) + sizes for sizes in sides)
    return list(zip(one, other, strict=True))


def _before_repeated(tensor: Any) -> Any:
    while tensor.op.type in _REPEATS:
        tensor = tensor.op.inputs[0]
    return tensor


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
