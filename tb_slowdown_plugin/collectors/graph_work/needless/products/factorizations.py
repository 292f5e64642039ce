"""A covariance that is factorized several times where one factor gives all that is asked of it.

Such as one of which a step takes the inverse, and the determinant, or the sum of the logarithms of
its eigenvalues: its Cholesky factor gives both. Each of them takes the cube of the matrix's side,
and so do its gradients.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    WORTH_MOVING,
    is_product_of_matrices,
    operations_before,
)
from tb_slowdown_plugin.collectors.graph_work.same_operations import name_operations
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_INVERTS: Final = "MatrixInverse"
_DETERMINES: Final = frozenset({"LogMatrixDeterminant", "MatrixDeterminant"})
_EIGENVALUES: Final = "SelfAdjointEigV2"
_FACTORIZES: Final = frozenset({"Cholesky", "MatrixSolve", _INVERTS, _EIGENVALUES, *_DETERMINES})
_LOG: Final = frozenset({"Log", "Prod"})
"""What gives the determinant of eigenvalues."""

_ONE_FORWARD: Final = 1.2
_ONE_BACKWARD: Final = 9.3
"""Of one Cholesky factor and its gradient, in products and sums, of the cube of the side: forward
as in `operation_costs.py`, backward by trainings with sides of 200 and 400
(`benchmarks/needless_work.py`). To solve, and to take a determinant, is no longer than that."""


class Factorizations(NamedTuple):
    """Of one matrix."""

    operation: Any
    """The last one."""
    times: float
    side: float
    """Rows of the matrix."""
    inverse: float
    """1 where one of them is the inverse."""
    eigenvalues: float
    """1 where one of them has the eigenvalues."""
    share: float
    """Of what the graph computes: what one factor spares."""


def find_factorizations(step: StepGraph) -> Factorizations | None:
    """Those of the matrix of which one factor spares most; None where there is none."""
    asked = [each for each in step.operations if each.type in _FACTORIZES and each in step.forward]
    if len(asked) < 2 or step.run is None:
        return None
    numbers = name_operations(step.operations, as_merged=True)
    groups: dict[int, dict[int, Any]] = {}
    for each in asked:
        # What is computed of the same twice runs once.
        if _is_for_determinant(each, step):
            groups.setdefault(_matrix_of(each, numbers), {}).setdefault(numbers[each], each)
    found = [
        told
        for group in groups.values()
        if len(group) > 1 and (told := _compare(step, list(group.values()), numbers)) is not None
    ]
    return max(found, key=lambda each: each.share, default=None)


def _matrix_of(operation: Any, numbers: Mapping[Any, int]) -> int:
    tensor = operation.inputs[0]
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return numbers[tensor.op]


def _is_for_determinant(operation: Any, step: StepGraph) -> bool:
    """Of eigenvalues, whether nothing else is made of them; anything else gives a factor, too."""
    if operation.type != _EIGENVALUES:
        return True
    takers = [one for each in operation.outputs for one in each.consumers() if one in step.forward]
    return bool(takers) and all(each.type in _LOG for each in takers)


def _compare(
    step: StepGraph, group: list[Any], numbers: Mapping[Any, int]
) -> Factorizations | None:
    """None where one factor would take as long, or the matrix may have none."""
    sizes = sizes_of(group[0].inputs[0])
    kinds = {each.type for each in group}
    if len(sizes) < 2 or not (kinds & {"Cholesky", _EIGENVALUES} or _is_gram(group[0], numbers)):
        return None
    *batch, _, side = sizes
    behind = [gradient for each in group for gradient in _gradients_of(step, each, side)]
    now = sum(step.costs.get(each, 0.0) for each in {*group, *behind})
    then = (_ONE_FORWARD + bool(behind) * _ONE_BACKWARD) * math.prod(batch) * side**3
    if now - then <= WORTH_MOVING:
        return None
    return Factorizations(
        group[-1],
        float(len(group)),
        float(side),
        float(_INVERTS in kinds),
        float(_EIGENVALUES in kinds),
        (now - then) / step.cost,
    )


def _gradients_of(step: StepGraph, operation: Any, side: int) -> list[Any]:
    """What makes matrices of this side of it, or of its matrix, in the backward pass."""
    tensors = [*operation.inputs[:1], *operation.outputs]
    takers = {one for tensor in tensors for one in tensor.consumers()} & set(step.backward)
    return [
        each
        for each in takers
        if (each.type in _FACTORIZES or is_product_of_matrices(each))
        and sizes_of(each.outputs[-1])[-2:] == [side, side]
    ]


def _is_gram(operation: Any, numbers: Mapping[Any, int]) -> bool:
    """Whether its matrix is made of products of rows with the same rows, as a covariance is."""
    for each in operations_before(operation.inputs[:1]):
        if is_product_of_matrices(each) and len(each.inputs) == 2:
            one, other = (_untransposed(tensor) for tensor in each.inputs)
            if numbers.get(one.op) == numbers.get(other.op):
                return True
    return False


def _untransposed(tensor: Any) -> Any:
    while tensor.op.type in ("Identity", "Transpose"):
        tensor = tensor.op.inputs[0]
    return tensor
