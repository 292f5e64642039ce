"""Tensors that a loop takes apart or puts together piece by piece, of which each costs the whole.

Such as `states[:, t]` for each step of a sequence: the gradient of a slice is as large as what it
was taken from, and all of these are added up: a recurrent step over 160 steps of a sequence takes
43 to 58 ms with slices, and 16 with `tf.unstack`. In a loop of the graph, `tf.concat([all, new])`
copies all that is there in each round, and once more for the gradient: 37 ms for 21 with a
`TensorArray` (TensorFlow 2.21, two cores, 2026-11-29). TensorFlow merges such operations where they
follow each other outside of a loop.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import (
    InnerGraph,
    before_identity,
    find_loops,
)
from tb_slowdown_plugin.collectors.graph_work.needless.loops.wrapped_layers import is_wrapped
from tb_slowdown_plugin.collectors.graph_work.operation_costs import cost_of, cost_of_moving
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_FEWEST: Final = 8
"""TensorPieces of one tensor from which they are many: a gate of a cell is one of four."""

_SLICE: Final = "StridedSlice"
_SLICE_GRADIENT: Final = "StridedSliceGrad"
_CONCAT: Final = "ConcatV2"
_CUT: Final = "Slice"
"""The gradient of each part of a concatenation."""
_ADDS: Final = frozenset({"AddN", "AddV2"})
_NEED_SHAPES: Final = frozenset({"ConcatOffset", "Shape", "ShapeN", "TensorListPushBack"})
"""Of a tensor, for gradients; a list of tensors keeps it as it is."""

_ONCE: Final = 2
"""Of all copies, what it takes to make the whole once: as it grows, each is half of it."""


class TensorPieces(NamedTuple):
    """Of one tensor."""

    operation: Any
    """The first that takes one, or puts one to the others."""
    times: int
    grown: float
    """1 where it is put together, 0 where it is taken apart."""
    rolled: float
    """1 where a loop of the graph does, 0 where one of Python has made operations for each."""
    wrapped: float
    """1 where Keras's `TimeDistributed` does."""
    share: float
    """Of what the graph computes: all but what it takes to handle the whole once."""


class _Copies(NamedTuple):
    """Of one tensor, as a whole."""

    operation: Any
    times: int
    grown: bool
    rolled: bool
    cost: float
    """Of all of them."""
    counted: float
    """What the step's count has for them: of a tensor that grows it doesn't know the sizes."""


def find_pieces(step: StepGraph) -> TensorPieces | None:
    """The tensor of which it costs most; None where there is none."""
    found = list(_find_slices(step))
    loops = [each for each in find_loops(step.forward) if each.rounds >= _FEWEST]
    if loops:
        gradients = [each for one in find_loops(step.backward) for each in one.operations]
        for loop in loops:
            found += [*_find_slices_in(loop, gradients), *_find_growing(loop, gradients)]
    if not found or step.run is None:
        return None
    most = max(found, key=lambda each: each.cost)
    spared = most.cost * (1 - _ONCE / most.times)
    rest = step.cost - most.counted
    share = spared / (rest + most.cost)
    return TensorPieces(
        most.operation,
        most.times,
        float(most.grown),
        float(most.rolled),
        float(not most.rolled and is_wrapped(most.operation)),
        share,
    )


def _find_slices(step: StepGraph) -> Iterator[_Copies]:
    """Tensors of which one operation after another takes a piece, and gets its gradient."""
    taken: dict[str, list[Any]] = defaultdict(list)
    for each in step.operations:
        if each.type == _SLICE and each in step.forward:
            taken[each.inputs[0].name].append(each)
    gradients: dict[tuple[int, ...], list[Any]] = defaultdict(list)
    for each in step.backward:
        if each.type == _SLICE_GRADIENT:
            gradients[tuple(sizes_of(each.outputs[0]))].append(each)
    for slices in taken.values():
        made = gradients[tuple(sizes_of(slices[0].inputs[0]))]
        if len(made) >= len(slices) >= _FEWEST:
            cost = cost_of([*made[: len(slices)], *_sums_of(made)])
            yield _Copies(slices[0], len(slices), False, False, cost, cost)


def _find_slices_in(loop: InnerGraph, gradients: list[Any]) -> Iterator[_Copies]:
    """The same where a loop of the graph does, and its gradient adds to the whole in each round."""
    for each in loop.operations:
        if each.type == _SLICE and before_identity(each.inputs[0]).name in loop.given:
            made = _gradients_of(each, _SLICE_GRADIENT, gradients)
            if made:
                cost = loop.rounds * cost_of([*made, *_sums_of(made)], within=loop)
                yield _Copies(each, loop.rounds, False, True, cost, cost)


def _find_growing(loop: InnerGraph, gradients: list[Any]) -> Iterator[_Copies]:
    """Tensors that a loop of the graph gives to its next round with one more piece."""
    body = loop.outputs[0].graph
    for argument, output in zip(body.inputs, loop.outputs, strict=True):
        made = before_identity(output).op
        whole = [each for each in made.inputs if before_identity(each) is argument]
        if made.type == _CONCAT and whole and _is_only_for(argument, made):
            *pieces, _ = (each for each in made.inputs if each is not whole[0])
            added = sum(math.prod(sizes_of(each)) for each in pieces)
            back = _gradients_of(made, _CUT, gradients)
            each_round = cost_of_moving(added * loop.rounds) * (2 if back else 1)  # half of the end
            known = loop.rounds * cost_of([made, *back], within=loop)
            yield _Copies(made, loop.rounds, True, True, loop.rounds * each_round, known)


def _is_only_for(tensor: Any, operation: Any) -> bool:
    """Whether nothing else needs what is in it."""
    for each in tensor.consumers():
        if each.type == "Identity":
            if not _is_only_for(each.outputs[0], operation):
                return False
        elif each is not operation and each.type not in _NEED_SHAPES:
            return False
    return True


def _gradients_of(operation: Any, kind: str, gradients: list[Any]) -> list[Any]:
    """Those that a loop makes of an operation in another one, by their names."""
    name = f"/{operation.name}_grad/"
    return [each for each in gradients if each.type == kind and name in f"/{each.name}"]


def _sums_of(gradients: Iterable[Any]) -> set[Any]:
    """What adds them up."""
    consumers = (one for each in gradients for one in each.outputs[0].consumers())
    return {each for each in consumers if each.type in _ADDS}
