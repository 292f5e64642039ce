"""Products of which a step takes a few rows, a few numbers, or the diagonal, and nothing else.

Such as a layer over all steps of a sequence, of whose outputs the last one is used; the scores of
all items, of which those of a batch are looked up; or `tf.linalg.diag_part(tf.matmul(a, b))`. What
is taken first costs as much less as there is less of it, and so do its gradients.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.needless.rows.whole_tables import FEW_ROWS
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    cost_of,
    is_product,
    is_product_of_matrices,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_TAKE: Final = frozenset({"GatherNd", "GatherV2", "Slice", "StridedSlice"})
_TAKE_DIAGONAL: Final = frozenset({"MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3"})
BY_ROW: Final = frozenset(
    {"Add", "AddV2", "BiasAdd", "Cast", "Elu", "Erf", "Erfc", "Exp", "Identity", "LeakyRelu", "Log",
     "LogSoftmax", "Maximum", "Minimum", "Mul", "Neg", "RealDiv", "Relu", "Relu6", "Selu",
     "Sigmoid", "Softmax", "Softplus", "Sqrt", "Square", "Sub", "Tanh"}
)  # fmt: skip
"""Operations of which each row needs no other row."""
_BY_NUMBER: Final = BY_ROW - {"LogSoftmax", "Softmax"}
_HAND_ON: Final = frozenset({"Cast", "ConcatV2", "ExpandDims", "Identity", "Reshape", "Squeeze"})


class UntakenRows(NamedTuple):
    """Of one place where rows, or numbers, are taken."""

    operation: Any
    """The product that costs most."""
    made: int
    """Rows that are computed, or numbers."""
    taken: int
    numbers: float
    """1 where they are numbers of one product, 0 where they are rows."""
    diagonal: float
    """1 where these are its diagonal."""
    share: float
    """Of what the graph computes: all but what is taken."""


def find_untaken_rows(step: StepGraph) -> UntakenRows | None:
    """The place where most is computed that nobody takes; None where there is none."""
    if not step.products or step.run is None:
        return None
    found = [*_find_by_rows(step), *_find_by_numbers(step)]
    return max(found, key=lambda each: each.share, default=None)


def _find_by_rows(step: StepGraph) -> Iterator[UntakenRows]:
    """Of layers, one after the other, each row of which needs one row before it."""
    for taker in step.forward & (step.run or set()):
        if taker.type not in _TAKE or _selects(taker):
            continue
        given, taken = sizes_of(taker.inputs[0]), sizes_of(taker.outputs[0])
        if not given or given[-1:] != taken[-1:] or not _are_few(taken, given):
            continue
        chain = list(_find_only_for(taker, step.forward))
        products = [each for each in chain if is_product(each)]
        if products:
            first = max(products, key=lambda each: cost_of([each]))
            made, used = (math.prod(sizes[:-1]) for sizes in (given, taken))
            share = _cost(step, chain, products) * (1 - used / made) / step.cost
            yield UntakenRows(first, made, used, 0.0, 0.0, share)


def _find_by_numbers(step: StepGraph) -> Iterator[UntakenRows]:
    """Of one product of matrices."""
    for product in filter(is_product_of_matrices, step.products):
        takers = (
            list(_find_takers(product.outputs[0], step.forward)) if product in step.forward else []
        )
        if not takers or not all(takers):
            continue
        made = math.prod(sizes_of(product.outputs[0]))
        used = sum(math.prod(sizes_of(each.outputs[0])) for each in takers)
        if used <= FEW_ROWS * made:
            is_diagonal = all(each.type in _TAKE_DIAGONAL for each in takers)
            share = _cost(step, [product], [product]) * (1 - used / made) / step.cost
            yield UntakenRows(product, made, used, 1.0, float(is_diagonal), share)


def _cost(step: StepGraph, chain: Iterable[Any], products: Iterable[Any]) -> float:
    gradients = {one for each in products for one in step.gradients_of(each)}
    return cost_of(chain) + cost_of(gradients)


def _are_few(taken: list[int], given: list[int]) -> bool:
    return math.prod(taken) <= FEW_ROWS * math.prod(given)


def _selects(taker: Any) -> bool:
    """Whether nobody knows how much it takes, as `tf.boolean_mask` does."""
    if not taker.type.startswith("Gather"):
        return False
    places = taker.inputs[1].op
    while places.type in _HAND_ON and places.inputs:
        places = places.inputs[0].op
    return bool(places.type == "Where")


def _find_takers(tensor: Any, forward: set[Any]) -> Iterator[Any]:
    """What takes some of its numbers; None for anything else that needs them."""
    sizes = sizes_of(tensor)
    for each in tensor.consumers():
        if each not in forward:
            continue
        takes = each.type in _TAKE | _TAKE_DIAGONAL and each.inputs[0] is tensor
        if takes and not _selects(each):
            yield each
        elif each.type in _BY_NUMBER and [sizes_of(one) for one in each.inputs].count(sizes) == 1:
            yield from _find_takers(each.outputs[0], forward)
        else:
            yield None


def _find_only_for(taker: Any, forward: set[Any]) -> Iterator[Any]:
    """What computes rows for it alone, each from a row before it."""
    known = {taker}
    ahead = [taker.inputs[0]]
    while ahead:
        tensor = ahead.pop()
        operation = tensor.op
        consumers = {each for each in tensor.consumers() if each in forward}
        if operation in known or not consumers <= known:
            continue
        sizes = sizes_of(tensor)
        if operation.type == "MatMul" and not operation.get_attr("transpose_a"):
            before = [operation.inputs[0]]
        elif operation.type in BY_ROW:
            before = [each for each in operation.inputs if sizes_of(each) == sizes]
        elif operation.type == "Reshape" and sizes_of(operation.inputs[0])[-1:] == sizes[-1:]:
            before = [operation.inputs[0]]
        else:
            continue
        known.add(operation)
        ahead += before
        yield operation
