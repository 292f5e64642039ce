"""Computing in double precision: what NumPy makes is float64, and so is a variable made of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    cost_of,
    is_product,
    operations_run,
)

_DOUBLE: Final = frozenset({"float64", "complex128"})


class DoublePrecision(NamedTuple):
    """Of one graph."""

    operation: Any
    """The first product in it."""
    share: float
    """Of what the graph computes."""


def find_double_precision(
    targets: Collection[Any], gradients: Collection[Any]
) -> DoublePrecision | None:
    """None where less than half is computed so, without products, or where it can't be counted.

    Args:
      targets: What was differentiated: tensors of one graph.
      gradients: Of variables; of those of which some rows have one, these rows.
    """
    run = operations_run(next(iter(targets)).graph, [*targets, *gradients])
    double = {each for each in run or () if _is_double(each)}
    products = sorted(filter(is_product, double), key=lambda one: one._id)
    if run is None or not products:
        return None
    share = cost_of(double) / cost_of(run)
    return DoublePrecision(products[0], share) if share >= MAJORITY else None


def _is_double(operation: Any) -> bool:
    tensors = (*operation.inputs, *operation.outputs)  # an update gives nothing
    return any(tensor.dtype.name in _DOUBLE for tensor in tensors)
