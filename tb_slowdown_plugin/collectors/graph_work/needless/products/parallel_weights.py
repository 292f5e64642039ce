"""Many small weights on one tensor, where one product, or one table, does.

Such as 60 layers of one unit each on the same features, or a table for each of 40 columns: each of
them, its gradients, and its optimizer start operations of their own. A `fit` with 60 such layers
takes 7 to 15 ms a step, one with a layer of 60 units 2 (TensorFlow 2.21, two cores, 2026-12-01).

What is made of them in the shape of their outputs counts, up to the first other tensor: not losses
of their own, which stay. Of `tf.gradients`, in sessions, only what goes forward counts.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    LOOKUPS,
    START,
    is_product,
    is_product_of_matrices,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.weights import UPDATES, handle_of, weights_of

_FEWEST: Final = 16
"""Weights that are told of: gates, heads, and experts read better one by one."""
_LEAST: Final = 20 * START
"""What it spares at least that is told of."""
_BY_TAPE: Final = "gradient_tape/"
"""Before the names of operations that go back through others."""
_HANDS_ON: Final = frozenset({"Cast", "Identity", "Reshape", "Squeeze", "ExpandDims"})
_TAKES_PARTS: Final = _HANDS_ON | {"Slice", "Split", "SplitV", "StridedSlice", "Unpack"}
_CHOOSES: Final = "SelectV2"
_ADDS: Final = frozenset({"Add", "AddV2"})
_FIXED: Final = frozenset({"Const", "ReadVariableOp", "VariableV2"})
_TIES: Final = "IdentityN"
"""A tape gives all gradients at once through it, each for itself."""
_SEVERAL: Final = -1
"""All bits: what is made of several of these weights, or of others."""


class ParallelWeights(NamedTuple):
    """Of one tensor."""

    operation: Any
    """The first that takes one of them."""
    times: float
    """Weights."""
    lookups: float
    """1 where they are tables, in which rows are looked up."""
    share: float
    """Of what the graph computes: starting operations for each of them but one."""


def find_parallel_weights(step: StepGraph) -> ParallelWeights | None:
    """Those of the tensor that most is started for; None where there are few, or it is little."""
    if step.run is None:
        return None
    groups: dict[Hashable, dict[str, Any]] = defaultdict(dict)
    takers = []
    for each in step.operations:
        if each not in step.forward:
            continue
        if (found := _look(each)) is not None:
            group, weights = found
            groups[group].setdefault(weights, each)
        if found is not None or (is_product(each) and weights_of(each)):
            takers.append(each)
    told = [
        ParallelWeights(
            first := next(iter(members.values())),
            float(len(members)),
            float(first.type in LOOKUPS),
            _count_starts(step, members, takers) * START / step.cost,
        )
        for members in groups.values()
        if len(members) >= _FEWEST and _are_apart(list(members.values()))
    ]
    most = max(told, key=lambda each: each.share, default=None)
    return most if most is not None and most.share * step.cost >= _LEAST else None


def _look(operation: Any) -> tuple[Hashable, str] | None:
    """What is alike of operations that one could do for, and the weights that this one takes."""
    if operation.type in LOOKUPS:
        table = operation.inputs[0]
        weights = handle_of(table) or (table.op.name if table.dtype.name == "resource" else "")
        width = tuple(_dimensions(operation.outputs[0])[-1:])
        return ((_part_of(operation.inputs[1]), width), weights) if weights else None
    if is_product_of_matrices(operation) and len(operation.inputs) == 2:
        weights = weights_of(operation)
        if weights and not handle_of(operation.inputs[0]):
            return _source(operation.inputs[0]).name, weights
    return None


def _are_apart(members: Sequence[Any]) -> bool:
    """Of lookups, whether each has another part of the ids."""
    if members[0].type not in LOOKUPS:
        return True
    return len({each.inputs[1].name for each in members}) == len(members)


def _source(tensor: Any, between: frozenset[str] = _HANDS_ON) -> Any:
    """The tensor that it is made of."""
    while tensor.op.type in between:
        tensor = tensor.op.inputs[1 if tensor.op.type == "Split" else 0]
    return tensor


def _part_of(ids: Any) -> str:
    """The name of the tensor that they are a part of."""
    tensor = _source(ids, _TAKES_PARTS)
    if tensor.op.type == _CHOOSES:  # by Keras, what counts from the end where it is negative
        _, added, plain = tensor.op.inputs
        if added.op.type in _ADDS and any(each is plain for each in added.op.inputs):
            return _part_of(plain)
    return str(tensor.name)


def _dimensions(tensor: Any) -> list[int | None]:
    return list(tensor.shape.as_list()) if tensor.shape.rank else []


def _size_of(tensor: Any) -> tuple[int, int]:
    """Dimensions that aren't known, and numbers by those that are."""
    sizes = _dimensions(tensor)
    return sizes.count(None), math.prod(each or 1 for each in sizes)


def _count_starts(step: StepGraph, members: Mapping[str, Any], takers: Sequence[Any]) -> int:
    """Operations that are there for each of them, less those of the one with most of a type."""
    types: dict[int, Counter[str]] = defaultdict(Counter)
    found = _trace_made(step, list(members.values()), takers)
    _trace_needed(step, list(members), found)
    for operation, bits in found.items():
        if _is_single(bits) and step.costs.get(operation, 0.0) > 0:
            types[bits][operation.type] += 1
    kinds = {kind for counted in types.values() for kind in counted}
    counts = ([counted[kind] for counted in types.values()] for kind in kinds)
    return sum(sum(each) - max(each) for each in counts)


def _trace_made(step: StepGraph, members: Sequence[Any], takers: Sequence[Any]) -> dict[Any, int]:
    """What is made of members, each with a bit, and what goes back through that -> their bits."""
    found: dict[Any, int] = dict.fromkeys(takers, _SEVERAL)
    found.update((each, 1 << place) for place, each in enumerate(members))
    sizes = [_size_of(each.outputs[0]) for each in members]
    by_name: dict[str, int] = {}
    for each in step.operations:  # each after what it needs
        bits = found.get(each) or _of_gradient(each.name, by_name)
        if not bits:
            for tensor in each.inputs:
                bits |= found.get(tensor.op, 0)
            if each in step.forward and _is_single(bits):
                size = sizes[bits.bit_length() - 1]
                bits = bits if _is_of_one(each, size, found) else _SEVERAL
        if bits:
            found[each] = bits
            by_name[each.name] = bits
    return found


def _is_of_one(operation: Any, size: tuple[int, int], found: Mapping[Any, int]) -> bool:
    """Whether it makes as many numbers as the product does, of them and what doesn't change."""
    if not operation.outputs or _size_of(operation.outputs[0]) != size:
        return False
    others = [tensor for tensor in operation.inputs if tensor.op not in found]
    return all(_source(each).op.type in _FIXED for each in others)


def _trace_needed(step: StepGraph, handles: Sequence[str], found: dict[Any, int]) -> None:
    """Adds what only one of the weights needs: to be updated, or what is of it alone already."""
    bits = {name: 1 << place for place, name in enumerate(handles)}
    read: dict[str, set[int]] = defaultdict(set)
    for each in step.operations:
        if each.type == "ReadVariableOp" and each in step.forward:
            read[each.inputs[0].op.name].add(_only_bit(each, found))
    for name, by in read.items():  # such as a bias
        if len(by) == 1 and name not in bits and (one := by.pop()):
            bits[name] = one
    for each in reversed(step.operations):
        if _is_single(found.get(each, 0)):
            continue
        later: list[Any] = []
        if each.type.startswith(UPDATES) and each.inputs:
            handle = each.inputs[0].op
            if handle.name in bits:
                found[each] = bits[handle.name]
                continue
            # Of its optimizer: what reads it once it is updated.
            later = [one for one in each.inputs[0].consumers() if one._id > each._id]
        if one := _only_bit(each, found, later):
            found[each] = one


def _only_bit(operation: Any, found: Mapping[Any, int], others: Iterable[Any] = ()) -> int:
    """That of all that takes what an operation gives, and of others; 0 if they have several."""
    takers = [one for tensor in operation.outputs for one in _takers_of(tensor)]
    needed = {found.get(one, 0) for one in (*takers, *others)}
    return one if len(needed) == 1 and _is_single(one := needed.pop()) else 0


def _takers_of(tensor: Any) -> Iterator[Any]:
    for each in tensor.consumers():
        if each.type == _TIES:
            for given, made in zip(each.inputs, each.outputs, strict=True):
                if given is tensor:
                    yield from _takers_of(made)
        else:
            yield each


def _is_single(bits: int) -> bool:
    return bits > 0 and bits & (bits - 1) == 0


def _of_gradient(name: str, by_name: Mapping[str, int]) -> int:
    """The bits of the operation that one goes back through, by its name; 0 for others."""
    if not name.startswith(_BY_TAPE):
        return 0
    above = name.removeprefix(_BY_TAPE).rpartition("/")[0]
    while above:
        if above in by_name:
            return by_name[above]
        above = above.rpartition("/")[0]
    return 0
