"""A matrix that is factorized several times where one factor gives all that is asked of it.

Such as a covariance of which a step takes the inverse, and the determinant or the eigenvalues: its
Cholesky factor gives both. Each of them takes the cube of the matrix's side, and so do its
gradients.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import WORTH_MOVING
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_EIGENVALUES: Final = "SelfAdjointEigV2"


class _Cost(NamedTuple):
    """Of the cube of the side, in products and sums."""

    forward: float
    backward: float


_COSTS: Final = {
    "Cholesky": _Cost(1.2, 9.3),
    "LogMatrixDeterminant": _Cost(1.4, 4.6),
    "MatrixDeterminant": _Cost(1.4, 4.6),
    "MatrixInverse": _Cost(4.6, 4.0),
    "MatrixSolve": _Cost(1.7, 1.7),
    _EIGENVALUES: _Cost(16.0, 20.0),
}
"""Of a solution for a few columns, and of eigenvalues alone. Backward, TensorFlow multiplies an
inverse by two matrices, inverts for a determinant, solves again, and computes the eigenvalues
again, with their vectors. By trainings with sides of 200 and 400 (`benchmarks/needless_work.py`):
to solve, and to take a determinant, is no longer than one Cholesky factor with its gradient."""

_ONE: Final = _COSTS["Cholesky"]
"""What gives all of them."""


class Factorizations(NamedTuple):
    """Of one matrix."""

    operation: Any
    """The last one."""
    times: float
    side: float
    """Rows of the matrix."""
    share: float
    """Of what the graph computes: what one factor spares."""


def find_factorizations(step: StepGraph) -> Factorizations | None:
    """Those of the matrix of which one factor spares most; None where there is none."""
    groups: dict[str, list[Any]] = {}
    for each in step.operations:
        if each.type in _COSTS and each in step.forward and _is_for_numbers(each, step):
            groups.setdefault(_matrix_of(each).name, []).append(each)
    found = [
        told
        for group in groups.values()
        if len(group) > 1 and (told := _compare(step, group)) is not None
    ]
    return max(found, key=lambda each: each.share, default=None)


def _matrix_of(operation: Any) -> Any:
    tensor = operation.inputs[0]
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor


def _is_for_numbers(operation: Any, step: StepGraph) -> bool:
    """Whether a factor would do: not where the step takes eigenvectors."""
    if operation.type != _EIGENVALUES:
        return True
    vectors = operation.outputs[1]
    return not any(each in step.forward for each in vectors.consumers())


def _compare(step: StepGraph, group: list[Any]) -> Factorizations | None:
    if step.run is None:
        return None
    *batch, _, side = sizes_of(group[0].inputs[0])
    is_learned = bool(set(_matrix_of(group[0]).consumers()) & set(step.backward)) or any(
        consumer in step.backward
        for each in group
        for tensor in each.outputs
        for consumer in tensor.consumers()
    )
    costs = [_COSTS[each.type] for each in group]
    now = sum(each.forward + is_learned * each.backward for each in costs)
    then = _ONE.forward + is_learned * _ONE.backward
    spared = (now - then) * math.prod(batch) * side**3
    if spared <= WORTH_MOVING:
        return None
    return Factorizations(group[-1], float(len(group)), float(side), spared / step.cost)
