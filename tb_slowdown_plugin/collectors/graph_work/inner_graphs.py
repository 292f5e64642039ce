"""Graphs that operations of another graph run: the body of a loop, or a function that is called.

How often a loop runs its body is known where the graph has the number: Keras's recurrent layers ask
for as many rounds as a sequence has steps. TensorFlow's own way from a name to a graph is private.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

_LOOPS: Final = frozenset({"While", "StatelessWhile"})
CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})

RUNS_OTHERS: Final = _LOOPS | CALLS
"""Operations with a graph inside; `If` mostly makes a variable."""

BATCH: Final = 32
"""A dimension that isn't known: the size of a batch in Keras."""

_REDUCES: Final[dict[str, Callable[[list[int]], int]]] = {
    "Max": max,
    "Min": min,
    "Prod": math.prod,
}
_MOST_ROUNDS: Final = 1
"""Place among the inputs of a loop of the number of rounds at most."""
_BEYOND: Final = {"Less": 0, "LessEqual": 1}
"""How a loop compares its counter -> what is added to the limit."""


class InnerGraph(NamedTuple):
    """What one operation runs."""

    operation: Any
    operations: list[Any]
    rounds: int
    outputs: list[Any]
    """Tensors."""
    given: Mapping[str, Any]
    """The name of an argument -> the tensor of the caller; of a loop, what stays as it is."""
    caller: InnerGraph | None
    """Where the operation is in such a graph itself."""


def find_inner(operation: Any, caller: InnerGraph | None = None) -> InnerGraph | None:
    """None where the graph isn't to be had, or how often it runs.

    Args:
      operation: One of `RUNS_OTHERS`.
      caller: The graph that it is in, where that is inside of another: a number of rounds may be
        one of its arguments.
    """
    is_loop = operation.type in _LOOPS
    try:
        rounds = _rounds_of(operation, caller) if is_loop else 1
        if not rounds:
            return None
        graph = _graph_of(operation, "body" if is_loop else "f")
        given = {
            argument.name: tensor
            for place, (argument, tensor) in enumerate(
                zip(graph.inputs, operation.inputs, strict=True)
            )
            if not is_loop or _is_handed_on(graph, place)
        }
        operations, outputs = list(graph.get_operations()), list(graph.outputs)
        return InnerGraph(operation, operations, rounds, outputs, given, caller)
    except Exception:  # noqa: BLE001 - private, and of another version
        return None


def find_branches(operation: Any, caller: InnerGraph | None = None) -> list[InnerGraph]:
    """The two graphs of a condition without side effects; none of another, or where they're hidden.

    Args:
      operation: Of any type.
      caller: The graph that it is in, where that is inside of another.
    """
    if operation.type != "StatelessIf":
        return []
    try:
        graphs = [_graph_of(operation, name) for name in ("then_branch", "else_branch")]
        given = list(operation.inputs)[1:]  # after the condition
        return [
            InnerGraph(
                operation,
                list(graph.get_operations()),
                1,
                list(graph.outputs),
                {each.name: got for each, got in zip(graph.inputs, given, strict=True)},
                caller,
            )
            for graph in graphs
        ]
    except Exception:  # noqa: BLE001 - private, and of another version
        return []


def find_loops(operations: Iterable[Any], caller: InnerGraph | None = None) -> Iterator[InnerGraph]:
    """The bodies of loops whose rounds are known, also of those in functions and in other loops.

    Args:
      operations: Of one graph.
      caller: That graph, where it is inside of another.
    """
    for each in operations:
        if each.type in RUNS_OTHERS and (inner := find_inner(each, caller)) is not None:
            if each.type in _LOOPS:
                yield inner
            yield from find_loops(inner.operations, inner)


def _graph_of(operation: Any, attribute: str) -> Any:
    return operation.graph._get_function(operation.get_attr(attribute).name).graph


def _name_arguments(graph: Any, call: Any) -> dict[str, Any]:
    return {argument.name: given for argument, given in zip(graph.inputs, call.inputs, strict=True)}


def _rounds_of(loop: Any, caller: InnerGraph | None) -> int:
    """0 where the graph has no number."""
    inputs = list(loop.inputs)
    most = _number_of(inputs[_MOST_ROUNDS], caller) if len(inputs) > _MOST_ROUNDS else None
    if most is not None and most > 0:  # -1 where the program sets none
        return most
    lists = (_source_of(each, caller)[0].op for each in inputs)
    lengths = [
        next(iter(each.inputs)).shape for each in lists if each.type == "TensorListFromTensor"
    ]
    longest = max((each[0] or 0 for each in lengths if each.rank), default=0)
    return longest or _rounds_by_counter(loop, caller)


def _rounds_by_counter(loop: Any, caller: InnerGraph | None) -> int:
    """Of a loop over a range: it goes on while its counter is less than a number."""
    condition, body = _graph_of(loop, "cond"), _graph_of(loop, "body")
    places = {each.name: place for place, each in enumerate(condition.inputs)}
    test = before_identity(condition.outputs[0]).op
    if test.type not in _BEYOND or test.inputs[0].name not in places:
        return 0
    counter = places[test.inputs[0].name]
    grown = before_identity(body.outputs[counter]).op
    if not grown.type.startswith("Add") or grown.inputs[0].name != body.inputs[counter].name:
        return 0

    def begin_with(tensor: Any, arguments: list[Any]) -> int | None:
        """The number that a tensor has in the first round."""
        known = {each.name: given for each, given in zip(arguments, loop.inputs, strict=True)}
        return _number_of(known.get(tensor.name, tensor), caller)

    limit = test.inputs[1]
    changes = limit.name in places and not _is_handed_on(body, places[limit.name])
    start = _number_of(loop.inputs[counter], caller)
    end = None if changes else begin_with(limit, condition.inputs)
    by = begin_with(grown.inputs[1], body.inputs)
    if start is None or end is None or by is None or by <= 0:
        return 0
    return max(math.ceil((end + _BEYOND[test.type] - start) / by), 0)


def _is_handed_on(body: Any, place: int) -> bool:
    """Whether a round leaves a number as it is."""
    return bool(before_identity(body.outputs[place]).name == body.inputs[place].name)


def _is_batch(shape: Any) -> bool:
    """Whether it is the shape of examples, of which nothing but their number is unknown."""
    if shape.type != "Shape" or shape.inputs[0].shape.rank is None:
        return False
    first, *others = shape.inputs[0].shape.as_list()
    return first is None and None not in others


def before_identity(tensor: Any) -> Any:
    """The tensor that it is the same as."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def _source_of(tensor: Any, caller: InnerGraph | None) -> tuple[Any, InnerGraph | None]:
    """The tensor that is handed on to here, into functions and out of them, and what it is in."""
    while True:
        tensor = before_identity(tensor)
        if caller is not None and tensor.name in caller.given:
            tensor, caller = caller.given[tensor.name], caller.caller
        elif tensor.op.type in CALLS and (inner := find_inner(tensor.op, caller)) is not None:
            tensor, caller = inner.outputs[tensor.value_index], inner
        else:
            return tensor, caller


def _number_of(tensor: Any, caller: InnerGraph | None) -> int | None:
    """Of a constant, or the largest or the product of some; None of anything else.

    The first output of a loop is how often it has gone round, as its gradient does.
    """
    from tensorflow.python.framework import tensor_util

    tensor, caller = _source_of(tensor, caller)
    made = tensor.op
    if made.type in _LOOPS and tensor.value_index == 0:
        return _rounds_of(made, caller) or None
    reduce = _REDUCES.get(made.type)
    if made.type == "StridedSlice":  # one of the sides of a shape
        sides, *at = (tensor_util.constant_value(each) for each in made.inputs)
        if any(each is None for each in at) or at[0].size != 1:
            return None
        side = int(at[0][0])
        if sides is None:
            return BATCH if side == 0 and _is_batch(made.inputs[0].op) else None
        return int(sides[side])
    value = tensor_util.constant_value(next(iter(made.inputs)) if reduce else tensor)
    if value is None or value.dtype.kind not in "iu" or not value.size:
        return None
    if reduce:
        return reduce(value.ravel().tolist())
    return int(value.ravel()[0]) if value.size == 1 else None
