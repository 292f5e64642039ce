"""What one run of a TensorFlow 1 session computes: the part of its graph that the fetches need."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cached_property
from typing import Any, Final

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    can_be_counted,
    operations_before,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import OF_GRADIENTS, StepGraph

_UPDATES: Final = re.compile(r"(Resource)?(Sparse)?Apply")
"""How the types of operations begin by which an optimizer moves a variable."""
_LOOPS: Final = frozenset({"Enter", "RefEnter"})
"""Where a loop of TensorFlow 1 begins: nobody knows how often it goes round."""


class RunGraph(StepGraph):
    """A step that is one run of a session.

    What is differentiated isn't known, so the forward pass is what the optimizer needs and
    `tf.gradients` hasn't made.

    Args:
      graph: Of TensorFlow 1.
      names: Of the operations and tensors that are asked for.
    """

    def __init__(self, graph: Any, names: Iterable[str]) -> None:
        self._graph, self._names = graph, list(names)
        self._fetched = [graph.as_graph_element(name) for name in self._names]
        self._runs = operations_for(graph, self._names)
        updates = [each for each in self._runs if _UPDATES.match(each.type)]
        super().__init__([], [tensor for each in updates for tensor in each.inputs])

    @cached_property
    def operations(self) -> list[Any]:
        """All that run, in the order in which they were made."""
        return sorted(self._runs, key=lambda each: each._id)

    @cached_property
    def results(self) -> list[Any]:
        """The tensors that are fetched."""
        return [each for each in self._fetched if hasattr(each, "op")]

    @cached_property
    def forward(self) -> set[Any]:
        """What the optimizer needs, without the gradients."""
        return {each for each in self.learning if not OF_GRADIENTS.search(each.name)}

    @cached_property
    def learning(self) -> set[Any]:
        """What the optimizer needs."""
        return operations_before(self.gradients)

    def run_without(self, but: Collection[Any]) -> set[Any] | None:
        """All that run, but for some; None where it can't be counted."""
        countable = all(each.type not in _LOOPS and can_be_counted(each) for each in self._runs)
        if not countable:
            return None
        return operations_for(self._graph, self._names, but) if but else self._runs


def operations_for(graph: Any, names: Iterable[str], but: Collection[Any] = ()) -> set[Any]:
    """All that run for these, those that only have to run before others included.

    Args:
      graph: Of TensorFlow 1.
      names: Of operations and tensors.
      but: Operations that don't run: these, and what only they need, are left out.
    """
    asked = (graph.as_graph_element(name) for name in names)
    ahead = [getattr(each, "op", each) for each in asked]
    found: set[Any] = set()
    while ahead:
        operation = ahead.pop()
        if operation not in found and operation not in but:
            found.add(operation)
            ahead += [tensor.op for tensor in operation.inputs]
            ahead += operation.control_inputs
    return found
