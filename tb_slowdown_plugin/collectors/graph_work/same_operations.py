"""Which operations of a graph compute the same of the same, also inside of its loops."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import RUNS_OTHERS, find_inner
from tb_slowdown_plugin.collectors.graph_work.weights import READS, name_of_constant


def name_operations(operations: list[Any], *, as_merged: bool = False) -> dict[Any, int]:
    """One number for operations that compute the same of the same.

    Args:
      operations: All of a graph, in order.
      as_merged: A variable before an update is another one than after it, and each loop is one of
        its own, as for TensorFlow, which computes once what has one number.
    """
    numbers: dict[Hashable, int] = {}
    named: dict[Any, int] = {}
    for each in operations:
        made_of = tuple((named.get(tensor.op), tensor.value_index) for tensor in each.inputs)
        key: Hashable = (each.type, made_of)
        before = sorted(named.get(one, -1) for one in each.control_inputs) if as_merged else []
        if each.type == "Const":
            key = name_of_constant(each)
        elif each.type in RUNS_OTHERS:
            key = each.name if as_merged else (_describe_inner(each), made_of)
        elif not made_of or (each.op_def.is_stateful and each.type not in READS):
            key = each.name  # nothing else is the same
        elif before:
            key = (each.type, made_of, *before)
        named[each] = numbers.setdefault(key, len(numbers))
    return named


def _describe_inner(operation: Any) -> Hashable:
    """What it runs, whatever that is called: each call of a tape makes the bodies of loops anew."""
    inner = find_inner(operation)
    return operation.name if inner is None else (inner.rounds, _describe(inner.operations))


def _describe(operations: list[Any]) -> Hashable:
    places = {each: place for place, each in enumerate(operations)}
    return tuple(
        (
            _describe_inner(each) if each.type in RUNS_OTHERS else each.type,
            name_of_constant(each) if each.type == "Const" else None,
            *((places[tensor.op], tensor.value_index) for tensor in each.inputs),
        )
        for each in operations
    )
