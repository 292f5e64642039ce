"""What each call of a function computes again of arguments that are the same in all of them.

Such as the inverse of a graph's adjacency matrix, or the distances of all pairs of the training
set, in a step that learns from the whole of it. TensorFlow computes ahead what depends on constants
alone, but arguments and captured tensors are none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import CALLS, InnerGraph, find_inner
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    WORTH_MOVING,
    cost_of,
    cost_of_call,
    operations_run,
)
from tb_slowdown_plugin.collectors.graph_work.weights import READS

_ARGUMENTS: Final = frozenset({"Placeholder", "_Arg"})


class Unchanging(NamedTuple):
    """Of one graph."""

    operation: Any
    """The one that costs most."""
    share: float
    """Of what the graph computes."""


def find_unchanging(graph: Any, same: Collection[str]) -> Unchanging | None:
    """None where there is none, or where it can't be counted.

    Args:
      graph: Of a function that has been traced.
      same: The names of arguments that have the same value in each call, or are variables that
        hold the same.
    """
    run = operations_run(graph, ())
    if run is None:
        return None
    made = list(_find_made((each for each in graph.get_operations() if each in run), same, None))
    if not made:
        return None
    costs = [(cost_of([each], within=within), each) for each, within in made]
    _, first = max(costs, key=lambda pair: pair[0])
    return Unchanging(first, sum(cost for cost, _ in costs) / cost_of_call(run))


def _find_made(
    operations: Iterable[Any], same: Collection[str], within: InnerGraph | None
) -> Iterator[tuple[Any, InnerGraph | None]]:
    """Operations that cost something, made of these arguments alone; and the graph they are in."""
    constant: set[Any] = set()
    kept: set[Any] = set()
    for each in operations:
        before = {tensor.op for tensor in each.inputs}
        if each.type in _ARGUMENTS:
            if each.outputs[0].name in same:
                kept.add(each)
        elif each.type in CALLS and (inner := find_inner(each, within)) is not None:
            given = {name for name, tensor in inner.given.items() if tensor.op in kept}
            yield from _find_made(inner.operations, given, inner)
        elif each.type in READS and before <= kept:
            kept.add(each)
        elif each.op_def.is_stateful:
            continue  # other numbers in each call
        elif before <= constant:
            constant.add(each)  # TensorFlow computes it once
        elif before <= kept | constant:
            kept.add(each)
            if cost_of([each], within=within) > WORTH_MOVING:
                yield each, within
