"""Computing in a precision that the device is slow in.

What NumPy makes is float64, and so is a variable made of it. `mixed_float16` is made for GPUs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.collectors.graph_work.operation_costs import cost_of
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph


class ComputedIn(NamedTuple):
    """Of one graph, what is computed in one precision."""

    operation: Any
    """The first product in it."""
    share: float
    """Of what the graph computes."""


def finder_of(dtypes: frozenset[str]) -> Callable[[StepGraph], ComputedIn | None]:
    """Finds what of a graph is computed in these types, by their names.

    It gives None where less than half is, without products, or where it can't be counted.
    """

    def has(operation: Any) -> bool:
        tensors = (*operation.inputs, *operation.outputs)  # an update gives nothing
        return any(tensor.dtype.name in dtypes for tensor in tensors)

    def find(step: StepGraph) -> ComputedIn | None:
        products = list(filter(has, step.products))
        run = step.run if products else None
        if run is None:
            return None
        share = cost_of(filter(has, run)) / step.cost
        return ComputedIn(products[0], share) if share >= MAJORITY else None

    return find


find_double_precision: Final = finder_of(frozenset({"float64", "complex128"}))
find_half_precision: Final = finder_of(frozenset({"float16"}))
