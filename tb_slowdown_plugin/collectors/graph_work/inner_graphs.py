"""Graphs that operations of another graph run: the body of a loop, or a function that is called.

How often a loop runs its body is known where the graph has the number: Keras's recurrent layers ask
for as many rounds as a sequence has steps. TensorFlow's own way from a name to a graph is private.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

_LOOPS: Final = frozenset({"While", "StatelessWhile"})
_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})

RUNS_OTHERS: Final = _LOOPS | _CALLS
"""Operations with a graph inside; `If` mostly makes a variable."""

_REDUCES: Final[dict[str, Callable[[list[int]], int]]] = {
    "Max": max,
    "Min": min,
    "Prod": math.prod,
}
_MOST_ROUNDS: Final = 1
"""Place among the inputs of a loop of the number of rounds at most."""


class InnerGraph(NamedTuple):
    """What one operation runs."""

    operations: list[Any]
    rounds: int


def find_inner(operation: Any) -> InnerGraph | None:
    """None where the graph isn't to be had, or how often it runs.

    Args:
      operation: One of `RUNS_OTHERS`.
    """
    is_loop = operation.type in _LOOPS
    rounds = _rounds_of(operation) if is_loop else 1
    if not rounds:
        return None
    try:
        name = operation.get_attr("body" if is_loop else "f").name
        graph = operation.graph._get_function(name).graph
        return InnerGraph(list(graph.get_operations()), rounds)
    except Exception:  # noqa: BLE001 - private, and of another version
        return None


def _rounds_of(loop: Any) -> int:
    """0 where the graph has no number."""
    inputs = list(loop.inputs)
    most = _number_of(inputs[_MOST_ROUNDS]) if len(inputs) > _MOST_ROUNDS else 0
    if most > 0:  # -1 where the program sets none
        return most
    lists = (each.op for each in inputs if each.op.type == "TensorListFromTensor")
    lengths = [next(iter(each.inputs)).shape for each in lists]
    return max((each[0] or 0 for each in lengths if each.rank), default=0)


def _number_of(tensor: Any) -> int:
    """Of a constant, or the largest or the product of some; 0 of anything else."""
    from tensorflow.python.framework import tensor_util

    made = tensor.op
    reduce = _REDUCES.get(made.type)
    value = tensor_util.constant_value(next(iter(made.inputs)) if reduce else tensor)
    if value is None or value.dtype.kind not in "iu" or not value.size:
        return 0
    found = int(reduce(value.ravel().tolist()) if reduce else value.ravel()[0])
    return found if value.size == 1 or reduce else 0
