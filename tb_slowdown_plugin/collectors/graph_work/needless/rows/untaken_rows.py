"""Products of which a step takes a few rows, or the diagonal, and nothing else.

Such as a layer over all steps of a sequence, of whose outputs the last one is used, or `tf.linalg.
diag_part(tf.matmul(a, b))`. What is taken first costs as much less as there are fewer rows, and so
do its gradients.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.needless.rows.whole_tables import FEW_ROWS
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    cost_of,
    is_product,
    is_product_of_matrices,
    sizes_of,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

_TAKE: Final = frozenset({"GatherNd", "GatherV2", "Slice", "StridedSlice"})
_TAKE_DIAGONAL: Final = frozenset({"MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3"})
BY_ROW: Final = frozenset(
    {"Add", "AddV2", "BiasAdd", "Cast", "Elu", "Erf", "Erfc", "Exp", "Identity", "LeakyRelu", "Log",
     "LogSoftmax", "Maximum", "Minimum", "Mul", "Neg", "RealDiv", "Relu", "Relu6", "Selu",
     "Sigmoid", "Softmax", "Softplus", "Sqrt", "Square", "Sub", "Tanh"}
)  # fmt: skip
"""Operations of which each row needs no other row."""


class UntakenRows(NamedTuple):
    """Of one place where rows are taken."""

    operation: Any
    """The product that costs most."""
    made: int
    """Rows that are computed."""
    taken: int
    diagonal: float
    """1 where they are the diagonal of a product."""
    share: float
    """Of what the graph computes: all but the rows that are taken."""


def find_untaken_rows(step: StepGraph) -> UntakenRows | None:
    """The place where most is computed that nobody takes; None where there is none."""
    if not step.products or step.run is None:
        return None
    found = []
    for taker in step.forward & step.run:
        chain = list(_find_only_for(taker, step.forward)) if _takes_few(taker) else []
        products = [each for each in chain if is_product(each)]
        if products:
            whole, part = (math.prod(sizes_of(each)) for each in _given_and_taken(taker))
            last = sizes_of(taker.inputs[0])[-1]
            gradients = {one for each in products for one in step.gradients_of(each)}
            cost = (cost_of(chain) + cost_of(gradients)) * (1 - part / whole)
            diagonal = taker.type in _TAKE_DIAGONAL
            rows = (whole, part) if diagonal else (whole // last, part // last)
            first = max(products, key=lambda each: cost_of([each]))
            found.append(UntakenRows(first, *rows, float(diagonal), cost / step.cost))
    return max(found, key=lambda each: each.share, default=None)


def _given_and_taken(taker: Any) -> tuple[Any, Any]:
    return taker.inputs[0], taker.outputs[0]


def _takes_few(taker: Any) -> bool:
    if taker.type not in _TAKE | _TAKE_DIAGONAL:
        return False
    given, taken = map(sizes_of, _given_and_taken(taker))
    if not given or not taken:
        return False
    alike = taker.type in _TAKE_DIAGONAL or given[-1] == taken[-1]  # not some of the columns
    return alike and math.prod(taken) <= FEW_ROWS * math.prod(given)


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
        if taker.type in _TAKE_DIAGONAL and is_product_of_matrices(operation):
            before = []
        elif operation.type == "MatMul" and not operation.get_attr("transpose_a"):
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
