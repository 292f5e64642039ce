"""The sizes of tensors in a graph, also where the number of examples in a batch is open.

A layer on a sequence multiplies a matrix that has a row for each step of each example: its shape
says nothing of that, and what it was made of does.
"""

from __future__ import annotations

import math
from typing import Any, Final

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import BATCH

_STEPS_BACK: Final = 4
"""Operations through which the number of rows is looked for, where a tensor doesn't tell it."""
_KEEP_ROWS: Final = frozenset(
    {"BiasAdd", "Cast", "Elu", "Identity", "Relu", "Sigmoid", "Softmax", "Tanh"}
)


def sizes_of(tensor: Any, batch: int = BATCH) -> list[int]:
    """The dimensions of a tensor; none where their number isn't known."""
    return _sizes(tensor, batch, _STEPS_BACK)


def _sizes(tensor: Any, batch: int, steps_back: int) -> list[int]:
    """A dimension that isn't known may be examples, or all of their parts in one dimension."""
    shape = tensor.shape
    if shape.rank is None:
        return []
    sizes: list[int | None] = shape.as_list()
    if None in sizes and steps_back:
        made = tensor.op
        if made.type == "MatMul" and all(map(_has_rank, made.inputs)):
            sides = _sides_of_product(made, batch, steps_back - 1)
            sizes = [size or side for size, side in zip(sizes, sides, strict=True)]
        elif made.type == "Reshape" and sizes.count(None) == 1 and _has_rank(made.inputs[0]):
            others = math.prod(each for each in sizes if each is not None)
            all_of_it = max(_count(tensor, batch, steps_back - 1) // max(others, 1), 1)
            sizes = [all_of_it if each is None else each for each in sizes]
        elif made.type in _KEEP_ROWS and _has_rank(made.inputs[0]):
            before = made.inputs[0]
            if before.shape.as_list() == sizes:
                return _sizes(before, batch, steps_back - 1)
    return [batch if each is None else each for each in sizes]


def _has_rank(tensor: Any) -> bool:
    return tensor.shape.rank is not None


def _sides_of_product(product: Any, batch: int, steps_back: int) -> tuple[int | None, int | None]:
    """Rows and columns of a product of matrices, by what both have in common."""
    inner = inner_size(product, [_sizes(each, batch, steps_back) for each in product.inputs])
    one, other = (
        max(_count(each, batch, steps_back) // max(inner, 1), 1) if _is_counted(each) else None
        for each in product.inputs
    )
    return one, other


def _is_counted(tensor: Any) -> bool:
    """Whether the number of its numbers is known, for a batch of a size."""
    return tensor.op.type == "Reshape" or _missing(tensor) <= 1


def _count(tensor: Any, batch: int, steps_back: int) -> int:
    """How many numbers it has: in another shape there are as many."""
    while tensor.op.type == "Reshape":
        before = tensor.op.inputs[0]
        if before.shape.rank is None or _missing(before) > _missing(tensor):
            break
        tensor = before
    return math.prod(_sizes(tensor, batch, steps_back))


def _missing(tensor: Any) -> int:
    """How many of its dimensions aren't known."""
    return sum(each is None for each in tensor.shape)


def inner_size(product: Any, inputs: list[list[int]]) -> int:
    """What both matrices have, by the one that knows more of it."""
    names = ("transpose_a", "transpose_b") if product.type == "MatMul" else ("adj_x", "adj_y")
    one, other = (product.get_attr(name) is True for name in names)
    places = (-2 if one else -1, -1 if other else -2)
    shapes = [each.shape for each in product.inputs]
    if any(shape.rank is None or shape.rank < 2 for shape in shapes):
        return inputs[0][places[0]]
    known = [shape[place] for shape, place in zip(shapes, places, strict=True)]
    sizes = [sizes[place] for sizes, place in zip(inputs, places, strict=True)]
    return next((each for each in known if each is not None), max(sizes))
