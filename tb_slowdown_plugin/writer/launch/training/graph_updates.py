"""Whether running a graph trains: whether it assigns to variables that are trainable.

Metrics, moving averages, counters, and random generators are variables too; a function that
assigns only to those doesn't train. TensorFlow's private graph is read, in this file only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

_WRITES: Final = (
    "Apply",
    "Assign",
    "ResourceApply",
    "ResourceScatter",
    "ResourceSparseApply",
    "Scatter",
    "SparseApply",
)
"""How the types of operations begin that write to their first input."""
_CALLS: Final = frozenset(
    ("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "If", "StatelessIf")
)
"""Operations that run other graphs."""
_BODIES: Final = ("f", "body", "then_branch", "else_branch")
"""Their attributes that name the graph."""
_GRADIENT: Final = re.compile(r"(?:^|/)gradient(?:_tape|s)(?:_\d+)?/")
_ARGUMENT_OF_IF: Final = 1
"""The first input of an `If` is its condition and no argument of the branches."""


def trains(function: Any) -> bool:
    """Whether a `ConcreteFunction` assigns to a trainable variable."""
    graph = function.graph
    trainable = {id(variable.handle) for variable in graph.variables if variable.trainable}
    inside = {id(inner) for outer, inner in graph.captures if id(outer) in trainable}
    inside |= _trainable_arguments(function)
    return bool(inside and inside & _written_inputs(graph, {}))


def any_trace_trains(function: Any) -> bool:
    """Whether any trace of a `tf.function` does."""
    return any(map(trains, _traces(function)))


def _traces(function: Any) -> Iterable[Any]:
    for config in (function._no_variable_creation_config, function._variable_creation_config):
        cache = getattr(config, "function_cache", None)
        if cache is not None:
            yield from cache.values()


def _differentiates(graph: Any) -> bool:
    """By the names that TensorFlow gives to operations of a tape, and of `tf.gradients`."""
    if any(_GRADIENT.search(operation.name) for operation in graph.get_operations()):
        return True
    inner = (getattr(each, "graph", None) for each in getattr(graph, "_functions", {}).values())
    return any(_differentiates(each) for each in inner if each is not None)


def computes_gradients(function: Any) -> bool:
    """Whether any trace of a `tf.function` differentiates, or calls a function that does."""
    return any(_differentiates(each.graph) for each in _traces(function))


def is_write(operation: Any) -> bool:
    """Whether an operation may write to a variable, its first input."""
    return bool(operation.type.startswith(_WRITES) and operation.inputs)


def written_resource(operation: Any) -> Any:
    """The variable that an operation writes to, as a tensor."""
    return _source_of(operation.inputs[0])


def _trainable_arguments(function: Any) -> set[int]:
    """The ids of the inputs of its graph that are trainable variables which it is called with."""
    import tensorflow as tf

    inputs = iter(function.graph.inputs)
    aliases: set[int] = set()
    found: set[int] = set()
    for spec in tf.nest.flatten(function.structured_input_signature):
        alias = getattr(spec, "alias_id", None)
        if alias is not None and alias in aliases:
            continue  # the same variable as in an argument before it
        components = list(islice(inputs, len(spec.flatten()) if hasattr(spec, "flatten") else 0))
        if getattr(spec, "trainable", False):
            found.update(map(id, components))
        if alias is not None:
            aliases.add(alias)
    return found


def _written_inputs(graph: Any, known: dict[int, set[int]]) -> set[int]:
    """The ids of the tensors of a graph, arguments and captures, that it writes to as resources."""
    if id(graph) in known:
        return known[id(graph)]
    written = known[id(graph)] = set()
    inputs = {id(tensor) for tensor in graph.inputs}
    for operation in graph.get_operations():
        if is_write(operation):
            written.add(id(written_resource(operation)))
        elif operation.type in _CALLS:
            written |= _written_by_call(graph, operation, known)
    written &= inputs
    return written


def _written_by_call(graph: Any, operation: Any, known: dict[int, set[int]]) -> set[int]:
    skipped = _ARGUMENT_OF_IF if operation.type.endswith("If") else 0
    arguments = list(operation.inputs)[skipped:]
    written = set()
    for called in _called_graphs(graph, operation):
        inner = _written_inputs(called, known)
        for argument, place in zip(arguments, called.inputs, strict=False):
            if id(place) in inner:
                written.add(id(_source_of(argument)))
    return written


def _called_graphs(graph: Any, operation: Any) -> Iterable[Any]:
    for attribute in _BODIES:
        try:
            name = operation.get_attr(attribute).name
        except (ValueError, AttributeError):
            continue
        found = _find_function(graph, name)
        if found is not None:
            yield found


def _find_function(graph: Any, name: str) -> Any:
    while graph is not None:
        functions = getattr(graph, "_functions", {})
        if name in functions:
            return getattr(functions[name], "graph", None)
        graph = getattr(graph, "outer_graph", None)
    return None


def _source_of(tensor: Any) -> Any:
    """What a resource was handed on from."""
    while tensor.op.type in ("Identity", "Enter", "Switch") and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor
