"""Products with a matrix that the program made, and that is nearly all zeros, such as an adjacency.

A sparse one spares what the zeros take, where they are enough: on two cores, TensorFlow takes as
long for a number that isn't zero as a dense product for 25 numbers, and for 200 where the other
matrix has more than 32 columns. A product of (2000, 2000), of which 0.1% isn't zero, with 64
columns takes 6.1 ms with its gradient, and 1.1 as a sparse one (TensorFlow 2.21, 2026-11-29).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import CALLS, InnerGraph, find_inner
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    cost_of,
    cost_of_call,
    is_product_of_matrices,
    operations_run,
)
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_FEWEST: Final = 250_000
"""Numbers in a matrix that is looked at: with fewer, a dense product takes less than 1 ms."""
_MOST: Final = 16_000_000
"""In a constant of the graph, which has to be copied."""
_ROWS: Final = 64
"""Of a matrix that are looked at, spread over all of it."""
_AS_LONG: Final = ((32, 25.0), (math.inf, 200.0))
"""Columns of the other matrix up to which a number takes as long as so many of a dense product."""
_SAME_NUMBERS: Final = frozenset({"Cast", "Identity", "Transpose"})


class ZeroMatrix(NamedTuple):
    """Of one graph."""

    operation: Any
    """The first product with it."""
    rows: int
    columns: int
    filled: float
    """The share of its numbers that aren't zero."""
    share: float
    """Of what the graph computes: what a sparse matrix would spare."""


def find_zero_matrix(graph: Any, given: Mapping[str, Any]) -> ZeroMatrix | None:
    """The matrix with which most could be spared; None where there is none.

    Args:
      graph: Of a function that has been traced.
      given: The name of an argument -> the tensor that is given to each call.
    """
    run = operations_run(graph, ())
    if run is None:
        return None
    filled: dict[int, float] = {}
    spared: dict[int, float] = {}
    first: dict[int, tuple[Any, list[int]]] = {}
    running = (each for each in graph.get_operations() if each in run)
    for product, matrix, within in _find_products(running, given, None):
        key = id(matrix)
        if key not in filled:
            filled[key] = _filled_share(matrix)
            first[key] = product, list(matrix.shape)
        columns = math.prod(sizes_of(product.outputs[0])) // matrix.shape[0]
        gain = 1 - filled[key] * next(cost for most, cost in _AS_LONG if columns <= most)
        spared[key] = spared.get(key, 0.0) + max(gain, 0.0) * cost_of([product], within=within)
    key = max(spared, key=lambda each: spared[each], default=0)
    if not spared.get(key):
        return None
    product, (rows, columns) = first[key]
    return ZeroMatrix(product, rows, columns, filled[key], spared[key] / cost_of_call(run))


def _find_products(
    operations: Iterable[Any], given: Mapping[str, Any], within: InnerGraph | None
) -> Iterator[tuple[Any, Any, InnerGraph | None]]:
    """Products, a large matrix that each of them takes, and the graph that they are in."""
    for each in operations:
        if is_product_of_matrices(each):
            for tensor in each.inputs:
                matrix = _matrix_of(tensor, given)
                if matrix is not None:
                    yield each, matrix, within
        elif each.type in CALLS and (inner := find_inner(each, within)) is not None:
            handed = {
                name: given[tensor.name]
                for name, tensor in inner.given.items()
                if tensor.name in given
            }
            yield from _find_products(inner.operations, handed, inner)


def _matrix_of(tensor: Any, given: Mapping[str, Any]) -> Any:
    """A constant, or what is given: something with a shape; None of another one, or a small one."""
    while tensor.op.type in _SAME_NUMBERS:
        tensor = tensor.op.inputs[0]
    sizes = sizes_of(tensor, batch=0)
    if len(sizes) != 2 or math.prod(sizes) < _FEWEST:
        return None
    is_constant = tensor.op.type == "Const" and math.prod(sizes) <= _MOST
    return tensor if is_constant else given.get(tensor.name)


def _filled_share(matrix: Any) -> float:
    """1 where the numbers can't be looked at without a copy, as on a GPU."""
    from tensorflow.python.framework import tensor_util

    is_constant = getattr(matrix, "graph", None) is not None
    try:
        numbers = tensor_util.constant_value(matrix) if is_constant else memoryview(matrix)
        numbers = np.asarray(numbers)
    except (TypeError, ValueError):
        return 1.0
    rows = numbers[:: max(len(numbers) // _ROWS, 1)]
    return float(np.count_nonzero(rows)) / rows.size
