"""Tables of which a step looks up a few rows, and computes on all of them.

Such as one that is normalized before the lookup, or whose squares are added to the loss. Its
gradient is then made for all rows, too, and a step of 0.8 ms takes 28 ms (200,000 rows of 64, of
which 512 are looked up).

How much of a step that is, is counted: what an operation computes, or ten times the bytes that it
reads and writes, whichever is more. In twelve trainings of one layer of 64 to 1,024 units, without
that, steps took 26 to 97% less on two cores. By this count it is 29 to 98%: within 0.08 for each,
but for one with 49%, counted as 36%.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import BATCH
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    LOOKUPS,
    MOVES_NOTHING,
    cost_of,
    cost_of_call,
    operations_before,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of

LARGE: Final = 500_000
"""Numbers in a table from which it is looked at: on fewer, an operation takes 0.1 ms."""

FEW_ROWS: Final = 0.25
"""Share of the rows up to which those that are looked up are few."""

DIMENSIONS: Final = 2
"""Of a table, at least."""
_SCATTERS: Final = "UnsortedSegmentSum"
"""With which TensorFlow makes the gradient of a lookup as large as the table."""

ASSIGNS: Final = ("Assign", "ResourceApply")
"""How the types of operations begin that update a variable."""


class WholeTables(NamedTuple):
    """Tables of one function, by the numbers of its graph."""

    operation: Any
    """The first one that computes on all of one: the largest on which the program does."""
    rows: int
    """Of that table."""
    looked_up: float
    looked_up_per_item: float
    """Of each example of a batch whose size the graph doesn't know."""
    work: float
    """On whole tables, of which a few rows would do."""
    rest: float
    rest_per_item: float
    regularized: float
    """1 where nothing is looked up in what was computed, as with a penalty in the loss."""
    made_dense: float
    """1 where only the gradient is as large."""

    @property
    def share(self) -> float:
        """Of what the graph computes for a batch of 32."""
        return self.work / (self.work + self.rest + BATCH * self.rest_per_item)

    def numbers(self) -> dict[str, float]:
        """Of the fact."""
        told = self._asdict()
        del told["operation"]
        return {**told, "share": self.share}


class _Table(NamedTuple):
    shape: list[int]
    before: set[Any]
    """The operations that make its gradient."""
    scatters: list[Any]


def find_whole_tables(step: StepGraph, gradients: Collection[Any]) -> WholeTables | None:
    """None where there is none, or where it can't be counted.

    Args:
      step: The graph.
      gradients: Of variables, by one call; of those of which some rows have one, these rows.
    """
    scatters = {one: operations_before(one.inputs) for one in step.operations if _makes_table(one)}
    found = (_find_table(each, scatters) for each in gradients) if scatters else ()
    tables = [each for each in found if each is not None]
    if not tables or step.run is None:
        return None
    forward = step.forward
    run = step.run | {one for one in step.operations if one.type.startswith(ASSIGNS)}
    work = [_work_on_all_rows(each, tables, forward, run) for each in tables]
    whole = set().union(*work)
    # One on which the program itself computes comes before one that only a gradient is made for.
    rows, of_one, _ = max(
        (
            (each.shape[0], made, bool(made & forward))
            for each, made in zip(tables, work, strict=True)
        ),
        key=lambda one: (one[2], one[0]),
    )
    first = min(of_one & forward or of_one, key=lambda one: one._id, default=None)
    used = [one for each in tables for one in each.scatters]
    looked_up, per_item = by_batch(
        lambda batch: max(math.prod(sizes_of(one.inputs[1], batch)) for one in used)
    )
    if first is None or looked_up + BATCH * per_item > FEW_ROWS * rows:
        return None
    rest, rest_per_item = by_batch(lambda batch: cost_of_call(run - whole, batch))
    lookups = [one for one in forward if one.type in LOOKUPS]
    is_input = any(tensor.op in whole for one in lookups for tensor in one.inputs)
    return WholeTables(
        first,
        rows,
        looked_up,
        per_item,
        cost_of(whole),
        rest,
        rest_per_item,
        float(first in forward and not is_input),
        float(first not in forward),
    )


def _makes_table(operation: Any) -> bool:
    """Whether it makes the gradient of a lookup, in a large table."""
    if operation.type != _SCATTERS or not operation.outputs[0].shape.is_fully_defined():
        return False
    shape = operation.outputs[0].shape.as_list()
    return len(shape) >= DIMENSIONS and math.prod(shape) >= LARGE


def _find_table(gradient: Any, scatters: Mapping[Any, set[Any]]) -> _Table | None:
    """A large variable whose gradient is made of that of a lookup, for all rows.

    By the tape, or by the program where only the rows that were looked up have one.

    Args:
      gradient: Of a variable.
      scatters: Operations that make such gradients, with those that make their inputs.
    """
    shape = gradient.shape.as_list() if gradient.shape.rank else []
    alike = [one for one in scatters if _makes(one, shape)]
    before = operations_before([gradient]) if alike else set()
    own = [one for one in alike if one in before]
    if not own:
        own = [one for one, made_of in scatters.items() if gradient.op in made_of]
        shape = own[0].outputs[0].shape.as_list() if own else []
        before = operations_before(tensor for one in own for tensor in one.outputs)
    return _Table(shape, before, own) if own else None


def _work_on_all_rows(
    table: _Table, tables: list[_Table], forward: set[Any], run: set[Any]
) -> set[Any]:
    shape, both = table.shape, forward | table.before
    updates = [one for one in run if one.type.startswith(ASSIGNS) and _takes(one, shape)]
    alike = sum(each.shape == shape for each in tables)
    # An optimizer that keeps something for each row goes through all rows whatever the gradient.
    spared = both if len(updates) > alike else run
    return {one for one in spared & run if touches(one, shape)}


def by_batch(count: Callable[[int], float]) -> tuple[float, float]:
    """What there is without any example, and for each."""
    per_item = (count(2 * BATCH) - count(BATCH)) / BATCH
    return count(BATCH) - BATCH * per_item, per_item


def touches(operation: Any, shape: list[int]) -> bool:
    """Whether it computes on all rows of such a table."""
    if operation.type in MOVES_NOTHING | LOOKUPS:
        return False
    return _makes(operation, shape) or _takes(operation, shape)


def _makes(operation: Any, shape: list[int]) -> bool:
    return any(sizes_of(tensor) == shape for tensor in operation.outputs)


def _takes(operation: Any, shape: list[int]) -> bool:
    return any(sizes_of(tensor) == shape for tensor in operation.inputs)
