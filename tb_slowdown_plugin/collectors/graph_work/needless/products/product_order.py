"""Three matrices that are multiplied in the order that takes more.

Such as `(adjacency @ states) @ weights`, which sums up wide rows before it makes them narrow, or
`x @ (weights @ tf.transpose(weights))`, which makes a large square of a few columns: both orders
give the same, and one takes a multiple of the other.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    WORTH_MOVING,
    is_product_of_matrices,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import inner_size, sizes_of
from tb_slowdown_plugin.collectors.graph_work.weights import handle_of

_EINSUM: Final = "Einsum"


class ProductOrder(NamedTuple):
    """Of three matrices."""

    operation: Any
    """The second product."""
    products: float
    """Multiplications of two numbers that both products take forward."""
    needed: float
    """Those that they take in the other order."""
    share: float
    """Of what the graph computes: what the other order spares, gradients included."""


def find_product_order(step: StepGraph) -> ProductOrder | None:
    """Those of which another order spares most; None where there are none."""
    found = [
        order
        for first in step.products
        if first in step.forward and _is_plain(first)
        if (second := _find_second(step, first)) is not None
        if (order := _compare(step, first, second)) is not None
    ]
    return max(found, key=lambda each: each.share, default=None)


def _is_plain(product: Any) -> bool:
    return is_product_of_matrices(product) and product.type != _EINSUM


def _find_second(step: StepGraph, first: Any) -> Any:
    """The product that takes it, and is all that does; None where there is none.

    A layer on a sequence has the rows of all examples below each other.
    """
    made = first.outputs[0]
    while True:
        takers = [each for each in made.consumers() if each in step.forward]
        if len(takers) != 1:
            return None
        (taker,) = takers
        if taker.type == "Reshape" and sizes_of(taker.outputs[0])[-1:] == sizes_of(made)[-1:]:
            made = taker.outputs[0]
        elif _is_plain(taker) and (made is first.outputs[0] or made is taker.inputs[0]):
            return taker
        else:
            return None


def _compare(step: StepGraph, first: Any, second: Any) -> ProductOrder | None:
    """None where the order is the one that takes less, or a model's own."""
    sizes = [sizes_of(each) for each in (*first.inputs, first.outputs[0])]
    if min(map(len, sizes)) < 2:
        return None
    side = 0 if _is_made_of(second.inputs[0], first) else 1
    third = second.inputs[1 - side]
    if side == 0 and handle_of(first.inputs[1]) and handle_of(third):
        return None  # two layers of a model, with nothing between them for reasons of its own
    left, right = (_has_gradient(step, first, each) for each in (0, 1))
    other = _has_gradient(step, second, 1 - side)
    if not left and not right:
        return None  # numbers of the program: it may as well have made them before
    inner = inner_size(first, sizes[:2])
    *batch, rows, columns = sizes[2]
    if side == _is_turned(second, side):  # its columns are what it shares with the third
        free, shared, far, near = rows, columns, left, right
    else:
        free, shared, far, near = columns, rows, right, left
    many = math.prod(batch)
    outer = math.prod(sizes_of(second.outputs[0])) // max(many * free, 1)
    now = many * inner * free * shared, many * free * shared * outer
    then = many * inner * shared * outer, many * inner * free * outer
    spared = (
        now[0] * (1 + far + near)
        + now[1] * (1 + (far or near) + other)
        - then[0] * (1 + near + other)
        - then[1] * (1 + far + (near or other))
    )
    if 2.0 * spared <= WORTH_MOVING or step.run is None:
        return None
    return ProductOrder(second, float(sum(now)), float(sum(then)), 2.0 * spared / step.cost)


def _is_made_of(tensor: Any, product: Any) -> bool:
    """Whether it is that product, in whatever shape."""
    while tensor.op.type == "Reshape":
        tensor = tensor.op.inputs[0]
    return bool(tensor.op is product)


def _is_turned(product: Any, side: int) -> bool:
    """Whether it takes a transposed matrix on this side."""
    names = ("transpose_a", "transpose_b") if product.type == "MatMul" else ("adj_x", "adj_y")
    return bool(product.get_attr(names[side]))


def _has_gradient(step: StepGraph, product: Any, side: int) -> bool:
    """Whether the backward pass has a product, of its other side, with the sides of this one."""
    sides = sizes_of(product.inputs[side])[-2:]
    with_other = set(product.inputs[1 - side].consumers())
    return any(
        each in with_other and sizes_of(each.outputs[0])[-2:] == sides
        for each in step.gradients_of(product)
    )
