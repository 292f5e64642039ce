"""Products that each of many rows gets by itself, though the rows were repeated just before.

Such as a convolution of one pixel behind an `UpSampling2D(4)`, or a layer on a context that was
tiled for each step of a sequence: repeating what the product gives is the same, or nearly so where
pixels are interpolated, and takes as much less as there are fewer rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.needless.rows.untaken_rows import BY_ROW
from tb_slowdown_plugin.collectors.graph_work.operation_costs import cost_of
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

_REPEATS: Final = frozenset(
    {"BroadcastTo", "ResizeBicubic", "ResizeBilinear", "ResizeNearestNeighbor", "Tile"}
)
_SAME_ROWS: Final = frozenset({"ExpandDims", "Reshape", "Squeeze"})
_FEWEST: Final = 2
"""Times from which rows are repeated."""


class RepeatedRows(NamedTuple):
    """Of one product."""

    operation: Any
    rows: int
    """Of the product."""
    times: int
    """So often was each of them repeated."""
    share: float
    """Of what the graph computes: all but one of these times."""


def find_repeated_rows(step: StepGraph) -> RepeatedRows | None:
    """The product with which most could be spared; None where there is none."""
    found = []
    for product in step.products:
        if product not in step.forward or not _takes_rows(product):
            continue
        between = list(_find_repeated(product.inputs[0]))
        times = math.prod(_times_of(each) for each in between if each.type in _REPEATS)
        if times >= _FEWEST and step.run is not None:
            sizes = sizes_of(product.outputs[0])
            cost = cost_of([product, *between, *step.gradients_of(product)]) * (1 - 1 / times)
            rows = math.prod(sizes[:-1])
            found.append(RepeatedRows(product, rows, times, cost / step.cost))
    return max(found, key=lambda each: each.share, default=None)


def _takes_rows(product: Any) -> bool:
    """Whether each row of it needs one row, as a matrix gives, or a kernel of one pixel."""
    if product.type == "MatMul":
        return not product.get_attr("transpose_a")
    is_pixel = product.type == "Conv2D" and sizes_of(product.inputs[1])[:2] == [1, 1]
    return is_pixel and product.get_attr("data_format") == b"NHWC"


def _find_repeated(tensor: Any) -> Iterator[Any]:
    """What repeats the rows, and is done with each since then: from the product to the first."""
    behind: list[Any] = []
    while True:
        operation = tensor.op
        sizes = sizes_of(tensor)
        given = [each for each in operation.inputs if sizes_of(each)[-1:] == sizes[-1:]]
        behind.append(operation)
        if operation.type in _REPEATS and given and given[0] is operation.inputs[0]:
            yield from behind
            behind = []
        elif operation.type in BY_ROW:
            given = [each for each in operation.inputs if sizes_of(each) == sizes]
            if len(given) != 1:  # of several, rows differ
                return
        elif operation.type not in _SAME_ROWS or not given:
            return
        tensor = given[0]


def _times_of(repeat: Any) -> int:
    given, made = (sizes_of(each) for each in (repeat.inputs[0], repeat.outputs[0]))
    return math.prod(made) // max(math.prod(given), 1)
