"""What is known of gradients while a program is traced: who asks for them, and who gets them.

Tensors of graphs are known by name: to hold one is to hold its graph.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.gradients.repeated_gradients import RepeatedGradients
from tb_slowdown_plugin.collectors.graph_work.gradients.zero_tensors import (
    GraphNumber,
    find_numbers,
)


class Traced(NamedTuple):
    """A tensor of a graph, which it does not keep alive."""

    graph: Callable[[], Any]
    name: str

    @classmethod
    def of(cls, tensor: Any) -> Traced | None:
        """Also the values of the rows of an embedding; None of what is in no graph."""
        dense = getattr(tensor, "values", tensor)
        graph = getattr(dense, "graph", None)
        if graph is None:
            return None
        reference = weakref.ref(graph)
        hash(reference)  # from now on, also when the graph is gone
        return cls(reference, dense.name)

    def find(self) -> Any:
        """The tensor; None once its graph is gone."""
        graph = self.graph()
        return None if graph is None else graph.get_tensor_by_name(self.name)


class Found(NamedTuple):
    """Tensors of one call, as long as they are kept."""

    targets: list[Any]
    gradients: list[Any]

    @property
    def graph(self) -> Any:
        """That all of them are in."""
        return self.targets[0].graph


@dataclass(slots=True)
class Asked:
    """The variables of one call of `gradient`."""

    place: str
    """The line, "FitHead.step (probe.py:88)"."""
    elements: dict[int, int]
    """Variable, by its identity -> numbers in it."""
    targets: list[Traced] = field(default_factory=list)
    gradients: dict[int, Traced] = field(default_factory=dict)
    """Variable -> its gradient, in code that is traced."""

    def find(self) -> Found | None:
        """Its tensors; None of eager code, and where their graph is gone."""
        targets = [each.find() for each in self.targets]
        gradients = [each.find() for each in self.gradients.values()]
        if not targets or any(each is None for each in (*targets, *gradients)):
            return None
        return Found(targets, gradients)


@dataclass(slots=True)
class Scope:
    """What one traced function, or one eager step, computes and applies."""

    since: int
    """Steps that were finished before."""
    asked: list[Asked] = field(default_factory=list)
    applied: dict[int, list[Traced]] = field(default_factory=dict)
    """Variable -> what the optimizer gets for it, in code that is traced."""
    repeated: RepeatedGradients = field(default_factory=RepeatedGradients)
    """Of an eager step."""
    numbers: list[GraphNumber] | None = None
    """That what is applied is made of; None before they are sought."""
    is_traced: bool = False
    """Whether the trace of its function has ended: nothing is added any more."""
    seen: object = None
    """The calls, and the numbers that were zero, when it was looked at last."""

    @property
    def calls(self) -> int:
        """How many lines have asked so far, and how many variables were updated."""
        return len(self.asked) + len(self.applied)

    def find_zero_numbers(self) -> list[GraphNumber]:
        """Those that are zero now, of what its gradients are made of when they are applied."""
        if self.numbers is None:
            got = (each.find() for all_of in self.applied.values() for each in all_of)
            self.numbers = find_numbers(tensor for tensor in got if tensor is not None)
        return [each for each in self.numbers if each.is_zero()]
