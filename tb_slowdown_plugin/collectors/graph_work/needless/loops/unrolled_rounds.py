"""Loops of Python over the examples of a batch, which a traced function has one after another.

Its graph computes the same of each piece of a tensor, and no piece needs another one's results:
what `independent_rounds` is in a loop of the graph. Tracing it takes as often as long, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.needless.loops.independent_rounds import (
    can_be_vectorized,
)
from tb_slowdown_plugin.collectors.graph_work.needless.loops.wrapped_layers import is_wrapped
from tb_slowdown_plugin.collectors.graph_work.operation_costs import START, starts_of
from tb_slowdown_plugin.collectors.graph_work.same_operations import name_operations
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_FEWEST: Final = 20
"""Rounds from which they are many: a layer may have some branches. Of 16, half of the trainings of
`benchmarks/needless_work.py` gain less than a fifth, or nothing."""

_SPARED: Final = 0.5
"""Of the time in which an operation is started, as two run at once: chosen by hand for 16 trainings
of 64 and 256 rounds (`benchmarks/needless_work.py`). What is counted so is up to 39 percentage
points off what `vectorized_map` saves, for half of them up to 22."""

_SLICE: Final = "StridedSlice"
_SPLITS: Final = frozenset({"Unpack", "Split", "SplitV"})
_MANY: Final = -1
"""In place of the number of a piece: computed of several."""

_Key = tuple[Any, int]
"""An operation, and which of its outputs."""


class UnrolledRounds(NamedTuple):
    """Of one loop."""

    operation: Any
    """The first one that takes a piece, in the loop; else one that computes."""
    times: int
    """Rounds."""
    wrapped: float
    """1 where Keras's `TimeDistributed` makes them."""
    share: float
    """Of what the graph computes: starting the operations of all rounds but one."""


def find_unrolled_rounds(step: StepGraph) -> UnrolledRounds | None:
    """The rounds that are alike; None where there are few, or where each has weights of its own."""
    if step.run is None:
        return None
    pieces = _find_pieces(step)
    if len({*pieces.values()}) < _FEWEST:
        return None
    forward = [each for each in step.operations if each in step.forward]
    computed = _follow(forward, pieces)
    rounds = _find_alike(computed, pieces, name_operations(step.operations))
    if len(rounds) < _FEWEST:
        return None
    taken = {key: at for key, at in pieces.items() if at in rounds}
    own = {operation for at in rounds for operation in computed[at]}
    learning = [*_find_gradients(step, computed, taken)]
    starts = starts_of([*own, *learning, *{operation for operation, _ in taken}])
    spared = (1 - 1 / len(rounds)) * starts * START
    share = _SPARED * spared / (step.cost - (1 - _SPARED) * spared)
    slices = [operation for operation, _ in taken if operation.type == _SLICE]
    first = [*slices, *computed[min(rounds)]][0]
    return UnrolledRounds(first, len(rounds), float(is_wrapped(first)), share)


def _find_pieces(step: StepGraph) -> dict[_Key, int]:
    """The pieces of tensors that are taken apart, and the place of each."""
    taken: dict[str, dict[_Key, int]] = defaultdict(dict)
    for each in step.operations:
        if each not in step.forward:
            continue
        if each.type in _SPLITS:
            whole = each.inputs[1 if each.type == "Split" else 0]
            used = (place for place, made in enumerate(each.outputs) if made.consumers())
            taken[whole.name] |= {(each, place): place for place in used}
        elif each.type == _SLICE and (place := _place_of(each)) is not None:
            taken[each.inputs[0].name][each, 0] = place
    apart = (of_one for of_one in taken.values() if len({*of_one.values()}) >= _FEWEST)
    return {key: place for of_one in apart for key, place in of_one.items()}


def _place_of(piece: Any) -> int | None:
    """Where a slice begins, in all dimensions: they differ in one; None where it isn't constant."""
    from tensorflow.python.framework import tensor_util

    begin = tensor_util.constant_value(piece.inputs[1])
    return None if begin is None or (begin < 0).any() else int(begin.sum())


def _follow(operations: list[Any], begin: Mapping[_Key, int]) -> dict[int, list[Any]]:
    """Place -> the operations that compute of what is at that place, and at no other.

    Args:
      operations: In order.
      begin: The tensors, and their places.
    """
    places: dict[Any, int] = {}
    found: dict[int, list[Any]] = defaultdict(list)
    taking = {operation for operation, _ in begin}
    for each in operations:
        if each in taking:
            continue
        keys = ((tensor.op, tensor.value_index) for tensor in each.inputs)
        taken = (begin.get(key, places.get(key[0])) for key in keys)
        got = {place for place in taken if place is not None}
        if got:
            places[each] = got.pop() if len(got) == 1 else _MANY
        if places.get(each, _MANY) != _MANY:
            found[places[each]].append(each)
    return found


def _find_gradients(
    step: StepGraph, computed: Mapping[int, list[Any]], taken: Mapping[_Key, int]
) -> Iterator[Any]:
    """What the gradients of each round compute of it, and what only that needs."""
    rounds = {*taken.values()}
    known = {
        (operation, output): at
        for at in rounds
        for operation in computed[at]
        for output in range(len(operation.outputs))
    }
    followed = _follow(step.backward, {**taken, **known})
    places = {operation: at for at, found in followed.items() for operation in found}
    for each in reversed(step.backward):
        if each not in places:
            users = (one for tensor in each.outputs for one in tensor.consumers())
            needed = {places.get(one, _MANY) for one in users if one in step.learning}
            if len(needed) == 1 and _MANY not in needed:
                places[each] = needed.pop()
    return iter(places)


def _find_alike(
    computed: Mapping[int, list[Any]], pieces: Mapping[_Key, int], named: Mapping[Any, int]
) -> set[int]:
    """The most rounds that compute the same, each of its pieces, with the same of all else."""
    kinds = {
        place: tuple(_describe(operations, pieces, named))
        for place, operations in computed.items()
        if starts_of(operations) and all(map(can_be_vectorized, operations))
    }
    if not kinds:
        return set()
    most, _ = Counter(kinds.values()).most_common(1)[0]
    # A sum that begins with a number of its own has one more operation in the first round.
    return {place for place, kind in kinds.items() if kind[: len(most)] == most}


def _describe(
    operations: list[Any], pieces: Mapping[_Key, int], named: Mapping[Any, int]
) -> Iterator[Hashable]:
    own = {each: number for number, each in enumerate(operations)}
    for each in operations:
        yield each.type
        for tensor in each.inputs:
            key = (tensor.op, tensor.value_index)
            if tensor.op in own:
                yield own[tensor.op], tensor.value_index
            elif key in pieces:
                given = (one.name for one in key[0].inputs if one.op.type != "Const")
                yield "piece", *given, tuple(sizes_of(tensor))
            else:
                yield "given", named[tensor.op], tensor.value_index
