"""Products with a matrix that is nearly all zeros: a diagonal one, or rows of a one-hot encoding.

With a diagonal matrix of n rows it computes n times as much as multiplying the rows, and with a
one-hot encoding of n classes n times as much as looking the rows up.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import cost_of, is_product_of_matrices
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_DIAGONAL: Final = frozenset({"Diag", "MatrixDiag", "MatrixDiagV2", "MatrixDiagV3"})
_ONE_HOT: Final = "OneHot"
_CHANGES_NOTHING: Final = frozenset({"Cast", "Identity", "Reshape", "StopGradient", "Transpose"})
"""Between the matrix and the product."""
_FEWEST: Final = 16
"""Rows or classes from which it is looked at: with fewer, a product is as good."""


class SparseProducts(NamedTuple):
    """With matrices that one line makes, by the numbers of a graph."""

    operation: Any
    """The first product."""
    columns: int
    """Of the largest matrix; all but one of a row are zero."""
    share: float
    """Of what the graph computes."""
    diagonal: float
    """1 if so, 0 for one-hot encodings."""


def find_sparse_products(step: StepGraph) -> SparseProducts | None:
    """Those with the kind of matrix that costs more; None where none can be counted."""
    products = filter(is_product_of_matrices, step.products)
    taken = [
        (product, made)
        for product in products
        for made in map(_maker_of, product.inputs)
        if _columns_of(made) >= _FEWEST
    ]
    run = step.run if taken else None
    if run is None:
        return None
    found: dict[bool, list[tuple[Any, Any]]] = {True: [], False: []}
    for product, made in taken:
        if product in run:
            found[made.type != _ONE_HOT].append((product, made))
    if not any(found.values()):
        return None
    costs = {
        kind: cost_of({each for pair in pairs for each in pair}) for kind, pairs in found.items()
    }
    kind = max(costs, key=lambda each: costs[each])
    first, _ = min(found[kind], key=lambda pair: pair[0]._id)
    columns = max(_columns_of(made) for _, made in found[kind])
    return SparseProducts(first, columns, costs[kind] / step.cost, float(kind))


def _maker_of(tensor: Any) -> Any:
    operation = tensor.op
    while operation.type in _CHANGES_NOTHING and operation.inputs:
        operation = operation.inputs[0].op
    return operation


def _columns_of(operation: Any) -> int:
    """Of the matrix that it makes; 0 of any other operation, and where their number isn't known."""
    if operation.type not in _DIAGONAL | {_ONE_HOT} or not operation.outputs[0].shape.rank:
        return 0
    return int(sizes_of(operation.outputs[0], batch=0)[-1])
