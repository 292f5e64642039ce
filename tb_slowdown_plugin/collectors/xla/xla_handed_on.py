"""Calls of a jitted function by a graph that hands its own arguments on to it.

Keras's `predict_on_batch` is one, and what a strategy runs. XLA compiles inside of that graph,
for what Python sees as the arguments of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tb_slowdown_plugin.collectors.xla.compilations import ShapesInPython
from tb_slowdown_plugin.collectors.xla.xla_values import NeededValue, arguments_of


@dataclass(frozen=True, slots=True)
class HandedOn:
    """A call in a graph that is being traced: by names, for tensors would keep the graph."""

    subject: str
    """The jitted function."""
    inputs: tuple[str, ...]
    """Tensors of which it leaves the shape open."""
    needed: tuple[tuple[str, NeededValue], ...]
    """Tensors of which XLA needs the value."""

    @classmethod
    def of(
        cls, subject: str, inputs: Sequence[Any], needed: Iterable[tuple[Any, NeededValue]]
    ) -> HandedOn:
        """The call with these tensors of the graph."""
        named = tuple((tensor.name, value) for tensor, value in needed)
        return cls(subject, tuple(tensor.name for tensor in inputs), named)

    def shapes_in(self, function: Any) -> ShapesInPython | None:
        """What to look at when the `ConcreteFunction` of that graph is called.

        Returns:
          None where nothing of it is an argument of the function.
        """
        arguments = arguments_of(function)
        places = {tensor.name: place for place, tensor in enumerate(arguments)}
        varying = [
            places[name]
            for name in self.inputs
            if name in places and not arguments[places[name]].shape.is_fully_defined()
        ]
        needed = [
            replace(value, place=places[name]) for name, value in self.needed if name in places
        ]
        if not (varying or needed):
            return None
        return ShapesInPython(self.subject, varying, needed)
