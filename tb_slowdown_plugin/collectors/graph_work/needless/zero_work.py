"""What a step computes that is zero whatever is fed: its line, and what it takes.

Such as a loss whose weight is 0, with the backward pass through all that it is made of. Or an
adversarial example that is made inside of the tape that trains: the gradient of `tf.sign` is zero,
and TensorFlow goes back from there all the same. What it leaves out of itself, where a shape is
known, is next to nothing: the pairs of `benchmarks/needless_work.py` take as long with all shapes
known as with an open one.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.gradients.zero_tensors import find_zeros
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    WORTH_MOVING,
    operations_before,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

_SIGN: Final = "Sign"
_ZEROS: Final = frozenset({"Const", "Fill", "ZerosLike"})
"""How TensorFlow makes the gradient of a sign."""


class ZeroWork(NamedTuple):
    """Of one graph."""

    operation: Any
    """From which on what costs most is zero."""
    sign: float
    """1 where that is `tf.sign`, in whose gradient it begins."""
    share: float
    """Of what the graph computes."""


def find_zero_work(step: StepGraph) -> ZeroWork | None:
    """What is computed of a zero, or for it alone; None where that is nothing.

    Zeros that the program makes as such, like the first state of a recurrent layer, don't count.
    """
    if step.run is None:
        return None
    tensors = find_zeros(step.operations[0].graph, ())
    zeros = {each for each in step.run if _gives_only(each, tensors)}
    needed = step.run_without(zeros) if zeros else None
    if needed is None:
        return None
    # Gradients that are zero as a whole are those of variables that aren't trained.
    given = [each for each in step.gradients if each.op in zeros]
    alone = step.run - needed - operations_before(given)
    spared = sum(step.costs[each] for each in alone)
    if spared <= WORTH_MOVING:
        return None
    told = _told(step, _find_root(step, alone & zeros))
    if told.type in _ZEROS:
        return None
    return ZeroWork(told, float(told.type == _SIGN), spared / step.cost)


def _gives_only(operation: Any, zeros: Collection[str]) -> bool:
    outputs = operation.outputs
    return bool(outputs) and all(each.name in zeros for each in outputs)


def _find_root(step: StepGraph, zeros: Collection[Any]) -> Any:
    """Where the one comes from that costs most: the first one that is made of no other."""
    dearest = max(zeros, key=lambda each: step.costs[each])
    before = operations_before(dearest.outputs)
    made = (each for each in step.operations if each in before and each in zeros)
    return next((each for each in made if not _is_factor(each)), dearest)


def _is_factor(operation: Any) -> bool:
    """Whether it is a number of the program's, and not zeros of some shape."""
    return bool(operation.type == "Const" and operation.outputs[0].shape.num_elements() == 1)


def _told(step: StepGraph, root: Any) -> Any:
    """The same in the forward pass, whose gradient makes the zero."""
    ahead = (step.run or set()) - set(step.backward)
    if root.type in _ZEROS:
        shape = root.outputs[0].shape.as_list()
        signs = (each for each in step.operations if each.type == _SIGN and each in ahead)
        return next((each for each in signs if each.outputs[0].shape.as_list() == shape), root)
    if root in ahead:
        return root
    takers = {one for tensor in root.inputs for one in tensor.consumers() if one in ahead}
    alike = (each for each in step.operations if each in takers and each.type == root.type)
    return next(alike, root)
