"""Computing in double precision: what NumPy makes is float64, and so is a variable made of it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.collectors.graph_work.operation_costs import cost_of
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

_DOUBLE: Final = frozenset({"float64", "complex128"})


class DoublePrecision(NamedTuple):
    """Of one graph."""

    operation: Any
    """The first product in it."""
    share: float
    """Of what the graph computes."""


def find_double_precision(step: StepGraph) -> DoublePrecision | None:
    """None where less than half is computed so, without products, or where it can't be counted."""
    products = list(filter(_is_double, step.products))
    run = step.run if products else None
    if run is None:
        return None
    share = cost_of(filter(_is_double, run)) / step.cost
    return DoublePrecision(products[0], share) if share >= MAJORITY else None


def _is_double(operation: Any) -> bool:
    tensors = (*operation.inputs, *operation.outputs)  # an update gives nothing
    return any(tensor.dtype.name in _DOUBLE for tensor in tensors)
