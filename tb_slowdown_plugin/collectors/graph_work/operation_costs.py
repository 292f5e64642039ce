"""What operations of a graph cost, in products and sums.

Counted, not timed: twice the products of a multiplication of matrices or a convolution, one for
each number of anything else. A dimension that isn't known counts as a batch of 32, everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any, Final

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import (
    BATCH,
    RUNS_OTHERS,
    InnerGraph,
    find_branches,
    find_inner,
)
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import inner_size, sizes_of

_PRODUCTS: Final = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"})
_EINSUM: Final = "Einsum"
_CONVOLUTIONS: Final = ("Conv2D", "DepthwiseConv2d", "Conv3D")
"""How the types begin."""

LOOKUPS: Final = frozenset({"GatherV2", "ResourceGather"})
"""They read the rows that they give."""

READ_WHAT_THEY_GIVE: Final = LOOKUPS | {"Slice", "StridedSlice"}

MOVES_NOTHING: Final = frozenset(
    {"Const", "Identity", "IdentityN", "NoOp", "Placeholder", "ReadVariableOp", "Reshape", "Shape",
     "StopGradient", "VarHandleOp"}
)  # fmt: skip

_PER_BYTE: Final = 10.0
"""Products and sums in the time in which a byte is read or written: 7 on two CPU cores, 20 and more
on GPUs."""

_BYTES: Final = 4
"""Of most numbers."""

_BYTES_OF: Final = dict.fromkeys(("bool", "int8", "uint8"), 1) | dict.fromkeys(
    ("complex64", "float64", "int64", "uint64"), 8
)
"""The same of other types. Halves take as long as most: a CPU computes with them as such."""

START: Final = 300_000.0
"""Products and sums in the time in which an operation is started: chosen by hand for 24 trainings
with work that they didn't need (`benchmarks/needless_work.py`). How far off that is:
docs/accuracy.md, "Counted, not timed"."""

_CALL: Final = 30_000_000.0
"""Products and sums in the time in which Python and TensorFlow start a graph: 0.19 to 0.31 ms with
no variable and with 60, of few operations, next to `tf.matmul` (`benchmarks/operation_costs.py`).
Of 0, 15, 30, 45, and 60 millions this one is least off what 88 trainings saved."""

WORTH_MOVING: Final = 2 * START
"""What an operation costs at least that is told to be moved: the program's reasons may be better
than a smaller gain."""

_PER_NUMBER: Final = {
    "AsString": 5_000.0,
    "Cumsum": 700.0,
    "Digamma": 700.0,
    "EncodeJpeg": 150.0,
    "EncodePng": 1_500.0,
    "HistogramSummary": 3_000.0,
    "FloorMod": 700.0,
    "ImageSummary": 1_500.0,
    "Lgamma": 700.0,
    "Multinomial": 400.0,
    "Pow": 700.0,
    "RandomShuffle": 1_000.0,
    "RandomStandardNormal": 650.0,
    "RandomUniform": 270.0,
    "StatelessRandomNormalV2": 750.0,
    "StatelessRandomUniformV2": 300.0,
    "StringFormat": 15_000.0,
    "TopKV2": 400.0,
    "Unique": 1_200.0,
    "Where": 350.0,
}
"""Products and sums in the time that one number takes where that is long. Of what is written out,
39 ns in a histogram, 7 to 28 in a PNG, 2 in a JPEG, 69 and 195 as text, against 6 ps on two cores,
of which each of these takes one; 2 to 12 in `Pow` and the others (TensorFlow 2.21, 2026-11-29;
`benchmarks/operation_costs.py`)."""

_PER_NUMBER_SORTED: Final = 475.0
"""The same where all numbers of a row are sorted, for each time by which the row can be halved, of
numbers and their places: 22 to 124 ns in rows of 500 to 2,000,000, as `TopKV2` takes for as many as
there are. Of several rows, two are sorted at a time."""

_CORES: Final = 2
"""Of the machine on which all was measured."""

_QUICK_POWERS: Final = frozenset({-1.0, -0.5, 0.5, 1.0, 2.0, 3.0})
"""TensorFlow has operations for them that take no longer than a product."""

_PER_CUBE: Final = {
    "Cholesky": 1.2,
    "LogMatrixDeterminant": 1.4,
    "MatrixDeterminant": 1.4,
    "MatrixInverse": 4.6,
    "MatrixSolve": 1.4,
    "MatrixSquareRoot": 180.0,
    "Qr": 7.0,
    "SelfAdjointEigV2": 16.0,
    "Svd": 30.0,
}
"""Products and sums in the time that solvers take, of the cube of a matrix's side: of sides of 300
and 800, next to `tf.matmul`, which takes 2 (`benchmarks/operation_costs.py`, two cores)."""

_PER_COLUMN: Final = {"MatrixSolve": 3.2, "MatrixTriangularSolve": 1.3}
"""The same of the square of its side, for each column that is solved for: as many as there are rows
were measured. What a solution factorizes is in `_PER_CUBE`, and takes as long as a determinant."""


def operations_run(graph: Any, needed: Iterable[Any], but: Collection[Any] = ()) -> set[Any] | None:
    """The operations that run in a graph, what nothing needs left out; None where it isn't known.

    That is where it has a loop of which nobody knows how often it goes round.

    Args:
      graph: One that has been traced.
      needed: Tensors that are needed, whatever for.
      but: Operations that don't run: these, and what only they need, are left out.
    """
    operations = graph.get_operations()
    if not all(map(can_be_counted, operations)):
        return None
    one_of = {each.type: each for each in operations}  # to ask each one takes 3 us
    stateful = {kind for kind, one in one_of.items() if one.op_def.is_stateful}
    acting = [tensor for each in operations if each.type in stateful for tensor in each.inputs]
    return operations_before([*needed, *acting, *getattr(graph, "outputs", ())], but)


def can_be_counted(operation: Any, within: InnerGraph | None = None) -> bool:
    """Whether all is known of it: what it runs, and how often."""
    if operation.type not in RUNS_OTHERS:
        return True
    inner = find_inner(operation, within)
    return inner is not None and all(can_be_counted(each, inner) for each in inner.operations)


def work_of(operations: Iterable[Any]) -> float:
    """What they compute: products and numbers."""
    return sum(map(_work_of_one, operations))


def is_product(operation: Any) -> bool:
    """Whether it multiplies matrices, or is a convolution."""
    return is_product_of_matrices(operation) or operation.type.startswith(_CONVOLUTIONS)


def is_product_of_matrices(operation: Any) -> bool:
    """Whether it multiplies matrices."""
    kind: str = operation.type
    return kind in _PRODUCTS or (kind == _EINSUM and len(operation.inputs) > 1)


def starts_of(operations: Iterable[Any]) -> int:
    """How many of them have to be started."""
    return sum(each.type not in MOVES_NOTHING for each in operations)


def cost_of(
    operations: Iterable[Any], batch: int = BATCH, within: InnerGraph | None = None
) -> float:
    """What they compute, or read and write, whichever is more, and to start them; in products."""
    return sum(_cost_of_one(each, batch, within) for each in operations)


def cost_of_call(operations: Iterable[Any], batch: int = BATCH) -> float:
    """What a call of a function with these takes, or a run of a session: the start, too."""
    return _CALL + cost_of(operations, batch)


def cost_of_moving(numbers: float) -> float:
    """Of an operation that reads and writes so many, in products."""
    return START + _PER_BYTE * _BYTES * numbers


def operations_before(tensors: Iterable[Any], but: Collection[Any] = ()) -> set[Any]:
    """The operations that compute these tensors, but for some, and what only these need."""
    found: set[Any] = set()
    ahead = [tensor.op for tensor in tensors]
    while ahead:
        operation = ahead.pop()
        if operation not in found and operation not in but:
            found.add(operation)
            ahead += [tensor.op for tensor in operation.inputs]
    return found


def _work_of_one(operation: Any, batch: int = BATCH, within: InnerGraph | None = None) -> float:
    """The same of one operation, with so many examples where a dimension isn't known."""
    if operation.type in RUNS_OTHERS and (inner := find_inner(operation, within)) is not None:
        return inner.rounds * sum(_work_of_one(each, batch, inner) for each in inner.operations)
    inputs = [sizes_of(tensor, batch) for tensor in operation.inputs]
    outputs = [sizes_of(tensor, batch) for tensor in operation.outputs]
    made = float(sum(math.prod(each) for each in outputs))
    kind = operation.type
    if kind in _PRODUCTS and inputs and inputs[0]:
        return 2.0 * made * inner_size(operation, inputs)
    if kind == _EINSUM and len(inputs) > 1:
        return 2.0 * _products_of_einsum(operation, inputs)
    if (kind in _PER_CUBE or kind in _PER_COLUMN) and inputs and inputs[0]:
        columns = inputs[1][-1] if kind in _PER_COLUMN and inputs[1] else 0
        by_number = _PER_CUBE.get(kind, 0.0) * inputs[0][-1] + _PER_COLUMN.get(kind, 0.0) * columns
        return by_number * math.prod(inputs[0])
    if kind.startswith(_CONVOLUTIONS):
        return 2.0 * _products_of_convolution(kind, inputs, outputs)
    return made


def _cost_of_one(operation: Any, batch: int, within: InnerGraph | None) -> float:
    if operation.type in MOVES_NOTHING:
        return 0.0
    if operation.type in RUNS_OTHERS and (inner := find_inner(operation, within)) is not None:
        return inner.rounds * cost_of(inner.operations, batch, inner)
    if branches := find_branches(operation, within):  # which one runs isn't known
        return max(cost_of(each.operations, batch, each) for each in branches)
    made, made_bytes = _size(operation.outputs, batch)
    got, got_bytes = _size(operation.inputs, batch)
    reads = made_bytes if operation.type in READ_WHAT_THEY_GIVE else got_bytes
    work = _work_of_one(operation, batch)
    by_number = _per_number(operation, batch) * max(made, got)
    return START + max(work, _PER_BYTE * (reads + made_bytes), by_number)


def _size(tensors: Iterable[Any], batch: int) -> tuple[int, int]:
    """The numbers in these tensors, and their bytes."""
    numbers = size_bytes = 0
    for each in tensors:
        if each.shape.rank:
            count = math.prod(sizes_of(each, batch))
            numbers += count
            size_bytes += count * _BYTES_OF.get(each.dtype.base_dtype.name, _BYTES)
    return numbers, size_bytes


def _per_number(operation: Any, batch: int) -> float:
    """Beside what it moves; 0 of most operations."""
    if sorts_all(operation):
        *others, numbers = sizes_of(operation.inputs[0], batch)
        at_a_time = min(math.prod(others), _CORES)
        return _PER_NUMBER_SORTED * math.log2(max(numbers, 2)) / at_a_time
    return 0.0 if _is_quick_power(operation) else _PER_NUMBER.get(operation.type, 0.0)


def sorts_all(operation: Any) -> bool:
    """Whether it puts all numbers of each row in order, as `tf.sort` and `tf.argsort` do.

    These ask for as many as there are, also where only the graph knows how many.
    """
    if operation.type != "TopKV2" or not operation.inputs[0].shape.rank:
        return False
    given, made = operation.inputs[0].shape[-1], operation.outputs[0].shape[-1]
    return bool(given == made) and (given is not None or _takes_size(operation.inputs[1].op))


def _takes_size(operation: Any) -> bool:
    """Whether it says how large a tensor is."""
    return bool(operation.type == "StridedSlice" and operation.inputs[0].op.type == "Shape")


def _is_quick_power(operation: Any) -> bool:
    if operation.type != "Pow":
        return False
    from tensorflow.python.framework import tensor_util

    exponent = tensor_util.constant_value(operation.inputs[1])
    return exponent is not None and exponent.size == 1 and float(exponent) in _QUICK_POWERS


def _products_of_einsum(operation: Any, inputs: list[list[int]]) -> float:
    """As many as there are combinations of all its indices."""
    equation = operation.get_attr("equation").decode()
    sizes: dict[str, int] = {}
    for term, dimensions in zip(equation.split("->")[0].split(","), inputs, strict=True):
        before, dots, after = term.partition("...")
        sizes |= zip(before, dimensions, strict=False)
        sizes |= zip(reversed(after), reversed(dimensions), strict=False)
        if dots:
            others = math.prod(dimensions[len(before) : len(dimensions) - len(after)])
            sizes[dots] = max(sizes.get(dots, 1), others)
    return float(math.prod(sizes.values()))


def _products_of_convolution(kind: str, inputs: list[list[int]], outputs: list[list[int]]) -> float:
    """Of the forward one, which its two gradients take as well: output times window."""
    if kind.endswith("BackpropInput") or kind.endswith("BackpropInputV2"):
        kernel, output = inputs[1], inputs[2]
    elif "BackpropFilter" in kind:
        kernel, output = outputs[0], inputs[2]
    else:
        kernel, output = inputs[1], outputs[0]
    return float(math.prod(output)) * math.prod(kernel[:-1])
