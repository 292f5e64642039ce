"""Tables of which a step looks up a few rows, and of which its optimizer moves all.

As Keras's `Adam` does, which keeps two numbers for each weight: of 400,000 rows of 32 and a batch
of 128, a step of 7 ms with `SGD` takes 33 with `Adam`, 25 with `Adagrad` and `Lion`, 23 with
`RMSprop`, and 50 with `Ftrl` (TensorFlow 2.21, Keras 3.15, 2026-11-29).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import BATCH
from tb_slowdown_plugin.collectors.graph_work.needless.rows.whole_tables import (
    ASSIGNS,
    DIMENSIONS,
    FEW_ROWS,
    LARGE,
    by_batch,
    touches,
)
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    LOOKUPS,
    cost_of,
    cost_of_call,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of


class DenseUpdates(NamedTuple):
    """Of one graph."""

    operation: Any
    """The lookup in the largest table."""
    rows: int
    """Of that table."""
    looked_up: float
    looked_up_per_item: float
    """Of each example of a batch whose size the graph doesn't know."""
    work: float
    """Of moving all rows."""
    rest: float
    rest_per_item: float
    share: float
    """Of what the graph computes, with a batch of the usual size."""


def find_dense_updates(step: StepGraph) -> DenseUpdates | None:
    """None where no such table is moved as a whole, or where it can't be counted."""
    assigns = [each for each in step.operations if each.type.startswith(ASSIGNS)]
    moved = {tuple(shape) for each in assigns for shape in _tables_in(each)}
    lookups = {
        shape: [each for each in step.forward if each.type in LOOKUPS and _gives(each, shape)]
        for shape in moved
    }
    tables = [shape for shape, found in lookups.items() if found]
    if not tables or step.run is None:
        return None
    largest = max(tables, key=math.prod)
    first = min(lookups[largest], key=lambda each: each._id)
    looked_up, per_item = by_batch(lambda batch: _rows_in(lookups[largest], batch))
    if looked_up + BATCH * per_item > FEW_ROWS * largest[0]:
        return None
    run = step.run | set(assigns)
    updates = {
        each for each in run - step.learning if any(touches(each, list(shape)) for shape in tables)
    }
    work = cost_of(updates)
    rest, rest_per_item = by_batch(lambda batch: cost_of_call(run - updates, batch))
    share = work / (work + rest + BATCH * rest_per_item)
    return DenseUpdates(first, largest[0], looked_up, per_item, work, rest, rest_per_item, share)


def _tables_in(assign: Any) -> Iterable[list[int]]:
    """The shapes of large tables that it takes."""
    for tensor in assign.inputs:
        shape = sizes_of(tensor)
        known = tensor.shape.is_fully_defined() and len(shape) >= DIMENSIONS
        if known and math.prod(shape) >= LARGE:
            yield shape


def _gives(lookup: Any, shape: tuple[int, ...]) -> bool:
    """Whether it gives rows of such a table."""
    return sizes_of(lookup.outputs[0])[-1:] == [shape[-1]]


def _rows_in(lookups: Iterable[Any], batch: int) -> float:
    """The most rows that one of them gives."""
    return max(math.prod(sizes_of(each.outputs[0], batch)[:-1]) for each in lookups)
