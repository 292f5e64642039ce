"""A second pass through a model, on the batch that it is trained with, for what is only reported.

Such as `y_pred = self(x, training=False)` for the metrics, after the gradients were applied. The
outputs of the first pass give the same metrics, of the weights before the update.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    cost_of,
    operations_before,
)
from tb_slowdown_plugin.collectors.graph_work.same_operations import name_operations
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.weights import weights_of


class SecondPass(NamedTuple):
    """In one function, by the numbers of its graph."""

    operation: Any
    """Its first product."""
    first: Any
    """The product of the first pass with the same weights."""
    share: float
    """Of what the graph computes."""


def find_second_pass(step: StepGraph) -> SecondPass | None:
    """None where there is none, or where it can't be counted.

    Nor where TensorFlow merges it with the first one: products of the same inputs, and of weights
    that were not updated between.
    """
    others = [each for each in step.products if each not in step.learning]
    if not others or step.run is None:
        return None
    reporting = _products_by_weights(each for each in others if each in step.run)
    forward = _products_by_weights(each for each in step.products if each in step.forward)
    both = [weights for weights in reporting if weights in forward]
    if not both:
        return None
    alike, merged = (
        name_operations(step.operations),
        name_operations(step.operations, as_merged=True),
    )
    again = [each for each in both if merged[reporting[each]] != merged[forward[each]]]
    if not again or not _take_the_same(reporting[both[0]], forward[both[0]], alike):
        return None
    second = [reporting[each] for each in again]
    alone = operations_before(tensor for each in second for tensor in each.outputs)
    share = cost_of(alone - step.learning) / step.cost
    return SecondPass(second[0], forward[again[0]], share)


def _products_by_weights(products: Iterable[Any]) -> dict[str, Any]:
    """The handle of a variable -> the first product that takes it, in order."""
    found: dict[str, Any] = {}
    for each in products:
        if weights := weights_of(each):
            found.setdefault(weights, each)
    return found


def _take_the_same(one: Any, other: Any, names: dict[Any, int]) -> bool:
    """Whether the inputs of two products are made in the same way of the same."""
    return [names[each.op] for each in one.inputs] == [names[each.op] for each in other.inputs]
