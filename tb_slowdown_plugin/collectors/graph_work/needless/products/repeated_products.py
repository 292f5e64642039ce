"""Products that a step repeats: the same numbers times the same weights, in each round of a loop.

Such as the keys of an attention, made of the same memory for each word that is decoded. TensorFlow
computes the product once, but its gradients in each round, as they are made of what is different
there. Made before the loop, the product has one gradient, of the sum.

What is counted, against what six decoders save without: `benchmarks/needless_work.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import cost_of
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of
from tb_slowdown_plugin.collectors.graph_work.weights import (
    READS,
    handle_of,
    name_of_constant,
    weights_of,
)

_DEEPEST: Final = 4
"""Operations between two products and what they both take: a cast, and changes of its shape."""


class RepeatedProducts(NamedTuple):
    """Of one layer, with the same input."""

    operation: Any
    """The first one."""
    times: int
    share: float
    """Of what the graph computes: the gradients that one product wouldn't have."""


def find_repeated_products(step: StepGraph) -> RepeatedProducts | None:
    """The layer that costs most so; None where there is none, or where it can't be counted."""
    by_weights: dict[str, list[Any]] = {}
    for product in step.products:
        if product in step.forward and (weights := weights_of(product)):
            by_weights.setdefault(weights, []).append(product)
    groups = [
        (weights, group)
        for weights, products in by_weights.items()
        for group in _with_one_input(products, weights)
    ]
    if not groups or step.run is None:
        return None
    merged = [product for _, group in groups for product in group[1:]]
    whole = step.cost - cost_of(merged)
    found = [
        RepeatedProducts(group[0], len(group), _cost_of_gradients(step, weights, group) / whole)
        for weights, group in groups
    ]
    return max(found, key=lambda each: each.share)


def _with_one_input(products: list[Any], weights: str) -> Iterable[list[Any]]:
    """Products of the same numbers with some weights, two and more."""
    groups: list[list[Any]] = []
    for product in products:
        taken = _data_of(product, weights)
        if taken is None:
            continue
        like = (one for one in groups if _is_same(_data_of(one[0], weights), taken, _DEEPEST))
        group = next(like, None)
        if group is None:
            groups.append([product])
        else:
            group.append(product)
    return [each for each in groups if len(each) > 1]


def _data_of(product: Any, weights: str) -> Any:
    """What the weights are multiplied with; None where that is the weights."""
    return next((each for each in product.inputs if handle_of(each) != weights), None)


def _cost_of_gradients(step: StepGraph, weights: str, group: list[Any]) -> float:
    """What all of them but one cost: those of the weights, and those of the input."""
    data = _data_of(group[0], weights)
    sizes = {
        math.prod(sizes_of(each)): kind
        for kind, each in (("data", data), ("weights", _read_of(group[0], weights)))
    }
    costs: dict[str, list[float]] = {"data": [], "weights": []}
    for product in step.products:
        if product in step.forward or product not in step.learning:
            continue
        kind = sizes.get(math.prod(sizes_of(product.outputs[0])), "")
        is_one = (
            any(_is_same(each, data, _DEEPEST) for each in product.inputs)
            if kind == "weights"
            else weights_of(product) == weights
        )
        if kind and is_one:
            costs[kind].append(cost_of([product]))
    return sum(sum(each) * (1 - 1 / len(each)) for each in costs.values() if each)


def _read_of(product: Any, weights: str) -> Any:
    return next(each for each in product.inputs if handle_of(each) == weights)


def _is_same(one: Any, other: Any, depth: int) -> bool:
    """Whether two tensors are made of the same by the same few operations."""
    made, like = one.op, other.op
    if made is like:
        return bool(one.value_index == other.value_index)
    if made.type != like.type or one.value_index != other.value_index or not depth:
        return False
    if made.type == "Const":
        return name_of_constant(made) == name_of_constant(like)
    if not made.inputs or (made.op_def.is_stateful and made.type not in READS):
        return False
    pairs = zip(made.inputs, like.inputs, strict=False)
    return len(made.inputs) == len(like.inputs) and all(
        _is_same(*pair, depth - 1) for pair in pairs
    )
