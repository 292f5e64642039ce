"""A graph in which gradients are computed, looked at once for all that is asked of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    cost_of,
    cost_of_call,
    is_product,
    operations_before,
    operations_run,
)

OF_GRADIENTS: Final = re.compile(r"(^|/)(gradient_tape|gradients(_\d+)?)/")
"""In the names of what a tape makes, and `tf.gradients`."""


class StepGraph:
    """The operations of such a graph: what is asked for first costs 1 to 5 us each.

    Args:
      targets: What is differentiated, by any call: tensors of one graph.
      gradients: What these calls give; of some rows of a variable, these rows.
    """

    def __init__(self, targets: Sequence[Any], gradients: Sequence[Any]) -> None:
        self.targets = targets
        self.gradients = gradients

    @cached_property
    def operations(self) -> list[Any]:
        """All of the graph, in order."""
        return list(self.targets[0].graph.get_operations())

    @cached_property
    def results(self) -> list[Any]:
        """What is asked of the graph: tensors."""
        outputs = getattr(self.targets[0].graph, "outputs", ())
        return [*self.targets, *self.gradients, *outputs]

    @cached_property
    def products(self) -> list[Any]:
        """Those that multiply matrices, or are convolutions, in order."""
        return [each for each in self.operations if is_product(each)]

    @cached_property
    def forward(self) -> set[Any]:
        """What the targets need."""
        return operations_before(self.targets)

    @cached_property
    def learning(self) -> set[Any]:
        """What the targets and the gradients need."""
        return operations_before([*self.targets, *self.gradients])

    @cached_property
    def backward(self) -> list[Any]:
        """What the gradients need beside that, in order."""
        behind = self.learning - self.forward
        return [each for each in self.operations if each in behind]

    @cached_property
    def run(self) -> set[Any] | None:
        """What runs at all; None where that can't be counted."""
        return self.run_without(())

    def run_without(self, but: Collection[Any]) -> set[Any] | None:
        """The same if some operations didn't, nor what only they need."""
        return operations_run(self.targets[0].graph, [*self.targets, *self.gradients], but)

    def gradients_of(self, product: Any) -> Iterator[Any]:
        """The products with one of its inputs, in the backward pass."""
        consumers = (one for tensor in product.inputs for one in tensor.consumers())
        behind = (one for one in consumers if one in self.learning and one not in self.forward)
        return filter(is_product, behind)

    @cached_property
    def costs(self) -> dict[Any, float]:
        """What each operation costs that runs."""
        return {each: cost_of([each]) for each in self.run or ()}

    @cached_property
    def cost(self) -> float:
        """What a call of it costs; 0 where that can't be counted."""
        return cost_of_call(()) + sum(self.costs.values()) if self.run is not None else 0.0
