"""Loops of a graph over the examples of a batch, of which no round needs another one's results.

Such as `tf.map_fn`: its operations are started for each example, and those of its gradient, where
`tf.vectorized_map` starts them once. A step of 8.6 ms with a `map_fn` of 30 operations over 64
examples takes 2.0 with `vectorized_map` (TensorFlow 2.21, 2026-11-29).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import (
    RUNS_OTHERS,
    InnerGraph,
    find_loops,
)
from tb_slowdown_plugin.collectors.graph_work.operation_costs import START, starts_of
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.weights import READS

_IN_LOOP: Final = 0.5
"""Of the time in which an operation is started: in a loop, chosen by hand for 24 trainings
(`benchmarks/needless_work.py`). What is counted so is up to 42 percentage points off what
`vectorized_map` saves, for 17 of them up to 22."""

_COLLECTS: Final = frozenset({"TensorListSetItem", "TensorListPushBack"})
_ADDS: Final = frozenset({"Add", "AddV2", "AddN"})
_NOT_VECTORIZED: Final = re.compile(
    r"Where|Unique|NonMaxSuppression|DynamicPartition|BooleanMask|String|Decode|Encode|Ragged|Sparse"
    r"|Tensor(Array|Scatter)|If|StatelessIf|Case|StatelessCase|CTC"
)
"""How operations begin that give another number of results for each example, or run others."""


class IndependentRounds(NamedTuple):
    """Of one loop."""

    operation: Any
    """That runs it."""
    times: int
    """Rounds."""
    share: float
    """Of what the graph computes: starting the operations of all rounds but one."""


def find_independent_rounds(step: StepGraph) -> IndependentRounds | None:
    """The loop that costs most so; None where there is none, or rounds are unknown."""
    loops = [each for each in find_loops(step.forward) if _is_independent(each)]
    if not loops or step.run is None:
        return None
    backward = list(find_loops(step.backward))
    found = []
    for loop in loops:
        names = tuple(f"/{each.name}_grad/" for each in loop.operations)
        gradients = (each for each in backward if _is_of(each, names))
        starts = starts_of(loop.operations) + sum(starts_of(each.operations) for each in gradients)
        every_round = _IN_LOOP * START * starts
        rest = step.cost - loop.rounds * (1 - _IN_LOOP) * START * starts
        share = (loop.rounds - 1) * every_round / rest
        found.append(IndependentRounds(loop.operation, loop.rounds, share))
    return max(found, key=lambda each: each.share)


def _is_independent(loop: InnerGraph) -> bool:
    """Whether each round computes of the examples alone, and results are collected or added up."""
    if not all(map(can_be_vectorized, loop.operations)) or not any(_find_computing(loop)):
        return False
    body = loop.outputs[0].graph
    carried: set[Any] = set()
    ends: set[Any] = set()
    for argument, output in zip(body.inputs, loop.outputs, strict=True):
        last = output.op
        while last.type == "Identity":
            ends.add(last)
            last = last.inputs[0].op
        if last is argument.op or argument.name in loop.given:
            continue
        if not any(each is argument for each in last.inputs):
            return False
        counts = last.type in _ADDS and all(
            each is argument or each.op.type == "Const" or each.name in loop.given
            for each in last.inputs
        )
        if counts:
            continue
        if last.type not in _COLLECTS | _ADDS:
            return False
        carried.add(argument.op)
        ends.add(last)
    return not any(
        tensor.op in carried
        for each in loop.operations
        if each not in ends
        for tensor in each.inputs
    )


def _find_computing(loop: InnerGraph) -> Iterator[Any]:
    """Operations that take what one of the examples has given."""
    taken: set[Any] = set()
    for each in loop.operations:
        before = {tensor.op for tensor in each.inputs}
        if each.type in ("TensorListGetItem", "GatherV2", "StridedSlice"):
            taken.add(each)
        elif before & taken and not each.type.startswith("TensorList"):
            taken.add(each)
            yield each


def can_be_vectorized(operation: Any) -> bool:
    """Whether `tf.vectorized_map` has an operation for many of them at once."""
    kind: str = operation.type
    if kind in RUNS_OTHERS or _NOT_VECTORIZED.match(kind):
        return False
    known = kind in READS or kind == "Placeholder" or kind.startswith("TensorList")
    return known or not operation.op_def.is_stateful


def _is_of(gradient: InnerGraph, names: tuple[str, ...]) -> bool:
    return any(name in f"/{each.name}" for each in gradient.operations for name in names)
