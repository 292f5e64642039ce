"""Which weights a product takes, what changes them, and which constants are the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import (
    CALLS,
    RUNS_OTHERS,
    InnerGraph,
    find_inner,
)

READS: Final = frozenset({"ReadVariableOp", "ResourceGather"})
"""Operations that give what a variable holds."""

UPDATES: Final = ("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter")
"""How the types of operations begin that change a variable."""

_WAY_TO_WEIGHTS: Final = frozenset(
    {"Cast", "ExpandDims", "Identity", "ReadVariableOp", "Reshape", "Squeeze", "Transpose"}
)
"""Between a product and the variable that it takes."""

_VARIABLES: Final = frozenset({"Variable", "VariableV2"})
"""Of TensorFlow 1, which are read without an operation for it."""

_VARIABLE: Final = "resource"
"""The type of a variable's handle."""

_MOST_COMPARED: Final = 65_536
"""Numbers in a constant that is compared with another: a shape, a rate, zeros to begin with. To
copy as many takes 0.1 ms."""


def changes_variables(operations: Iterable[Any], within: InnerGraph | None = None) -> bool:
    """Whether any of them does, or one of a function that they call."""
    for each in operations:
        if each.type.startswith(UPDATES):
            return True
        inner = find_inner(each, within) if each.type in CALLS else None
        if inner is not None and changes_variables(inner.operations, inner):
            return True
    return False


def find_changing(operations: Iterable[Any], within: InnerGraph | None = None) -> set[str]:
    """The names of arguments that are variables with which they may do anything but read them."""
    changing: set[str] = set()
    for each in operations:
        variables = {one.name for one in each.inputs if one.dtype.name == _VARIABLE}
        if not variables or each.type in READS:
            continue
        inner = find_inner(each, within) if each.type in RUNS_OTHERS else None
        if inner is None:
            changing |= variables
            continue
        inside = find_changing(inner.operations, inner)
        changing |= {tensor.name for name, tensor in inner.given.items() if name in inside}
    return changing


def weights_of(product: Any) -> str:
    """The handle of the variable that it takes; "" where that is none."""
    return next(filter(None, map(handle_of, product.inputs)), "")


def handle_of(tensor: Any) -> str:
    """The handle of the variable that a tensor was read from, whatever its shape is now; or ""."""
    before = tensor.op
    while before.type in _WAY_TO_WEIGHTS and before.inputs:
        is_read = before.type == "ReadVariableOp"
        before = before.inputs[0].op
        if is_read:
            return str(before.name)
    return str(before.name) if before.type in _VARIABLES else ""


def name_of_constant(operation: Any) -> Hashable:
    """Its value, or the name of a large one, which is the same as no other."""
    shape = operation.outputs[0].shape
    if (shape.num_elements() or 0) > _MOST_COMPARED:
        return str(operation.name)
    return bytes(operation.get_attr("value").SerializeToString())
