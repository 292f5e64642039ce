"""A Jacobian of all outputs by all inputs, of which only the diagonal is used.

Such as `tf.linalg.diag_part(tape.jacobian(u, x))` for a derivative at each of 160 points:
TensorFlow goes back once for each of them, all at once. `tape.gradient(u, x)` goes back once, and
gives the same where each output depends on its own input: a training of 38 s takes 8 with it
(TensorFlow 2.21, two cores, 2026-11-30).

It is told of examples of a batch, of which each has numbers of its own on the way, and not of the
numbers of one example, which depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import START, operations_before
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

_LEAST: Final = 10 * START
"""What it spares at least that is told of."""
_ALL_AT_ONCE: Final = "/pfor/"
"""In the names of operations that TensorFlow makes for all rounds of a loop together."""
_BY_TAPE: Final = "gradient_tape/"
"""Before the names of operations that go back through others."""
_TAKES_DIAGONAL: Final = "MatrixDiagPart"
_HANDS_ON: Final = frozenset({"Cast", "Identity", "Reshape", "Squeeze", "StridedSlice"})
_ASKS_SIZE: Final = frozenset({"Rank", "Shape", "ShapeN", "Size"})


class FullJacobians(NamedTuple):
    """Of one graph."""

    operation: Any
    """That takes the first diagonal."""
    times: float
    """Jacobians."""
    side: float
    """Outputs, and inputs, of the largest."""
    share: float
    """Of what the graph computes: all but going back once."""


class _Jacobian(NamedTuple):
    diagonal: Any
    side: int
    """0 where the graph doesn't know it."""
    made: set[Any]
    """What is computed for it for each output, forward and back."""


def find_full_jacobians(step: StepGraph) -> FullJacobians | None:
    """None where no diagonal is taken of one, or where it spares little."""
    takers = [each for each in step.operations if each.type.startswith(_TAKES_DIAGONAL)]
    if not takers or step.run is None:
        return None
    found = [_look(step, each) for each in takers if _is_of_jacobian(each, step.run)]
    found = [each for each in found if each.side and _is_of_examples(each)]
    spared: dict[Any, float] = {}
    for each in found:
        for one in each.made:
            spared.setdefault(one, step.costs.get(one, 0.0) * (1 - 1 / each.side))
    total = sum(spared.values())
    if total <= _LEAST:
        return None
    first = min((each.diagonal for each in found), key=lambda one: one._id)
    sides = [each.side for each in found]
    return FullJacobians(first, float(len(found)), float(max(sides)), total / step.cost)


def _is_of_jacobian(diagonal: Any, run: Collection[Any]) -> bool:
    """Whether it is taken of what a loop gives for all outputs, of which nothing else is used."""
    from tensorflow.python.framework import tensor_util

    if len(diagonal.inputs) > 1 and tensor_util.constant_value(diagonal.inputs[1]) != 0:
        return False  # beside the diagonal
    taker, tensor = diagonal, diagonal.inputs[0]
    while _ALL_AT_ONCE not in tensor.op.name:
        if tensor.op.type not in _HANDS_ON or not _is_only_for(tensor, taker, run):
            return False
        taker, tensor = tensor.op, tensor.op.inputs[0]
    return _is_only_for(tensor, taker, run)


def _is_only_for(tensor: Any, taker: Any, run: Collection[Any]) -> bool:
    return all(
        each is taker or each.type in _ASKS_SIZE for each in tensor.consumers() if each in run
    )


def _look(step: StepGraph, diagonal: Any) -> _Jacobian:
    before = operations_before(diagonal.inputs[:1])
    made = {each for each in before if _ALL_AT_ONCE in each.name}
    scopes = set(map(_scope_of, made))
    back = {
        each
        for each in step.operations
        if each.name.startswith(_BY_TAPE) and _ALL_AT_ONCE in each.name
        if _scope_of(each) in scopes
    }
    shape = diagonal.inputs[0].shape
    side = shape[-1] if shape.rank and shape[-1] == shape[-2] else None
    return _Jacobian(diagonal, side or 0, made | back)


def _is_of_examples(jacobian: _Jacobian) -> bool:
    """Whether what goes back for each output has numbers for each input, as a layer's units."""
    begins = [jacobian.side, jacobian.side]
    for each in jacobian.made:
        for tensor in each.outputs:
            sizes = tensor.shape.as_list() if tensor.shape.rank else []
            if sizes[:2] == begins and math.prod(size or 1 for size in sizes[2:]) > 1:
                return True
    return False


def _scope_of(operation: Any) -> str:
    """The operation that it does for all, whether it goes back through it or not."""
    scope: str = operation.name.partition(_ALL_AT_ONCE)[0]
    return scope.replace(_BY_TAPE, "")
