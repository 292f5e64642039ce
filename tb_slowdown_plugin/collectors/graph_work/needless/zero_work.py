"""What a step computes that is zero whatever is fed: its line, and what it takes.

Such as a loss whose weight is 0, with the backward pass through all that it is made of. Or an
adversarial example that is made inside of the tape that trains: the gradient of `tf.sign` is zero,
and TensorFlow goes back from there all the same. What it leaves out of itself, where a shape is
known, is next to nothing: the pairs of `benchmarks/needless_work.py` take as long with all shapes
known as with an open one.

Zeros that the program makes as such, like the first state of a recurrent layer, don't count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.gradients.zero_tensors import (
    find_zeros,
    is_zero_constant,
)
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    WORTH_MOVING,
    operations_before,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import OF_GRADIENTS, StepGraph

_SIGN: Final = "Sign"
_PRODUCTS: Final = frozenset({"Mul", "MulNoNan"})
_ZEROS: Final = frozenset({"Const", "Fill", "ZerosLike"})
"""How TensorFlow makes the gradient of a sign."""
_MOST: Final = 5
"""Zeros of one graph of which is counted what they take: each looks at all of it twice."""


class ZeroWork(NamedTuple):
    """Of one graph."""

    operation: Any
    """From which on it is zero: a product with a factor of 0, or a sign."""
    sign: float
    """1 where it is a sign, in whose gradient it begins."""
    share: float
    """Of what the graph computes."""


def find_zero_work(step: StepGraph) -> ZeroWork | None:
    """What is computed most of one zero, or for it alone; None where that is nothing."""
    if step.run is None:
        return None
    ahead = step.run - set(step.backward)
    begins = [*_find_factors(step, ahead), *_find_signs(step, ahead)]
    if len(begins) > _MOST:  # a regularizer of weight 0 in each layer is less than a loss
        depths = _measure_depths(step)
        begins.sort(key=lambda each: -depths[each[0]])
    found = [
        each for operation, names in begins[:_MOST] if (each := _count(step, operation, names))
    ]
    return max(found, key=lambda each: each.share, default=None)


def _measure_depths(step: StepGraph) -> dict[Any, int]:
    """How many operations are in the longest row before each, itself included."""
    depths: dict[Any, int] = {}
    for each in step.operations:  # each after what it needs
        depths[each] = 1 + max((depths.get(one.op, 0) for one in each.inputs), default=0)
    return depths


def _find_factors(step: StepGraph, ahead: set[Any]) -> Iterator[tuple[Any, set[str]]]:
    """Products with a single number that is 0, and the name of that number."""
    for each in step.operations:
        if each.type in _PRODUCTS and each in ahead and not OF_GRADIENTS.search(each.name):
            zeros = {one.name for one in each.inputs if _is_zero_number(one)}
            if zeros:
                yield each, zeros


def _is_zero_number(tensor: Any) -> bool:
    is_number = tensor.op.type == "Const" and tensor.shape.num_elements() == 1
    return bool(is_number and is_zero_constant(tensor.op))


def _find_signs(step: StepGraph, ahead: set[Any]) -> Iterator[tuple[Any, set[str]]]:
    """Signs that gradients go back through, and the names of these gradients."""
    behind = set(step.backward)
    for each in step.operations:
        if each.type != _SIGN or each not in ahead or OF_GRADIENTS.search(each.name):
            continue
        if all(one.type == "StopGradient" for one in each.outputs[0].consumers()):
            continue
        takers = each.inputs[0].consumers()
        zeros = {one.outputs[0].name for one in takers if one.type in _ZEROS and one in behind}
        yield each, zeros or set(_find_constants(step, each, ahead, behind))


def _find_constants(step: StepGraph, sign: Any, ahead: set[Any], behind: set[Any]) -> Iterator[str]:
    """Zeros of a known shape don't tell of what they are the gradient: only the shape does."""
    sizes = sign.outputs[0].shape
    if not sizes.is_fully_defined():
        return
    # TensorFlow makes them for the second gradient of a layer, too.
    if any(each.type.endswith("Grad") and each.outputs[0].shape == sizes for each in ahead):
        return
    for each in step.operations:
        if each.type in _ZEROS and each in behind and each.outputs[0].shape == sizes:
            yield each.outputs[0].name


def _count(step: StepGraph, operation: Any, begins: set[str]) -> ZeroWork | None:
    """What is zero by these tensors, and is not where they aren't."""
    if not begins:
        return None
    graph = operation.graph
    names = find_zeros(graph, begins) - find_zeros(graph, (), but=begins)
    zeros = {
        each
        for each in step.run or ()
        if each.outputs and all(one.name in names for one in each.outputs)
    }
    needed = step.run_without(zeros)
    if needed is None:
        return None
    # Gradients that are zero as a whole are those of variables that aren't trained.
    given = [each for each in step.gradients if each.op in zeros]
    alone = (step.run or set()) - needed - operations_before(given)
    spared = sum(step.costs[each] for each in alone)
    if spared <= WORTH_MOVING:
        return None
    return ZeroWork(operation, float(operation.type == _SIGN), spared / step.cost)
