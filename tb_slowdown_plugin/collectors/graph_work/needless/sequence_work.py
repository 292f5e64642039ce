"""What a step computes for each column of a batch of sequences, which may be padded.

A graph doesn't tell what is in a batch, but what a column costs: `collectors/input/padded_columns`
tells how many of them hold nothing but padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import BATCH, RUNS_OTHERS, find_inner
from tb_slowdown_plugin.collectors.graph_work.operation_costs import LOOKUPS, MOVES_NOTHING
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.tensor_sizes import sizes_of
from tb_slowdown_plugin.collectors.graph_work.weights import handle_of
from tb_slowdown_plugin.collectors.input.padded_columns import may_be_padded

_GIVEN: Final = frozenset({"Placeholder", "_Arg", "IteratorGetNext"})
_DEEPEST: Final = 5
"""Operations through which numbers of words may go before they are looked up."""


class SequenceWork(NamedTuple):
    """Of one length of sequences."""

    operation: Any
    """The one that costs most."""
    columns: int
    share: float
    """Of what the graph computes: what is in proportion to the columns."""
    squared: float
    """What is in proportion to their square, as in an attention."""


def find_sequence_work(step: StepGraph) -> SequenceWork | None:
    """None where no batch of sequences of a known length is given, or where it can't be counted."""
    given = dict(_find_given(step))
    if not given or step.run is None:
        return None
    batches = {rows or BATCH for rows in given.values()} | {BATCH}
    found = []
    for columns in given:
        # Of as many units the last dimension of what is computed may be one of either.
        is_unit = any(columns in sizes_of(weights)[-2:] for weights in _find_weights(step))
        of_columns = _Columns(columns, {columns * each for each in batches}, is_unit=is_unit)
        costs: dict[int, list[tuple[float, Any]]] = {1: [], 2: []}
        for each in step.run:
            times = of_columns.times_in(each)
            if times:
                costs[min(times, 2)].append((step.costs[each], each))
        once, squared = (sum(cost for cost, _ in costs[times]) / step.cost for times in (1, 2))
        if once + squared > 0:
            first = max(costs[1] + costs[2], key=lambda pair: pair[0])[1]
            found.append(SequenceWork(first, columns, once, squared))
    return max(found, key=lambda each: each.share + each.squared, default=None)


def _find_given(step: StepGraph) -> Iterator[tuple[int, int | None]]:
    """Columns, and rows if they are known, of sequences that the step is given."""
    for each in step.operations:
        if each.type in _GIVEN:
            for tensor in each.outputs:
                shape = tensor.shape.as_list() if tensor.shape.rank else []
                is_number = tensor.dtype.is_integer or tensor.dtype.is_floating
                if not is_number or not may_be_padded(shape, tensor.dtype.as_numpy_dtype):
                    continue
                if len(shape) > 2 or _are_looked_up(tensor, _DEEPEST):
                    yield shape[1], shape[0]


def _are_looked_up(tensor: Any, deepest: int) -> bool:
    """Whether these are numbers of rows in a table, such as words are."""
    for each in tensor.consumers():
        if each.type in LOOKUPS and each.inputs[1] is tensor:
            return True
        made = each.outputs[:1]  # Keras counts negative ones from the end
        goes_on = deepest and made and sizes_of(made[0]) == sizes_of(tensor)
        if goes_on and _are_looked_up(made[0], deepest - 1):
            return True
    return False


def _find_weights(step: StepGraph) -> Iterator[Any]:
    for product in step.products:
        yield from filter(handle_of, product.inputs)


class _Columns:
    """In how many dimensions of tensors the columns are, or as rows of all examples.

    Args:
      columns: How many there are.
      long: Rows of all examples.
      is_unit: Whether layers have as many units.
    """

    def __init__(self, columns: int, long: set[int], *, is_unit: bool) -> None:
        self._columns = columns
        self._long = long
        self._is_unit = is_unit
        self._made: dict[Any, int] = {}

    def times_in(self, operation: Any) -> int:
        """Of what it takes and gives, the most."""
        if operation.type in MOVES_NOTHING:
            return 0
        if operation.type in RUNS_OTHERS:
            inner = find_inner(operation)
            if inner is not None and inner.rounds == self._columns:
                return 1
        before = (self._count_made_by(tensor.op) for tensor in operation.inputs)
        return max(self._count_made_by(operation), *before, 0)

    def _count_made_by(self, operation: Any) -> int:
        known = self._made.get(operation)
        if known is None:
            counts = (self._count_in(sizes_of(each)) for each in operation.outputs)
            known = self._made[operation] = max(counts, default=0)
        return known

    def _count_in(self, sizes: list[int]) -> int:
        if not self._is_unit:
            return sum(size == self._columns or size in self._long for size in sizes)
        return int(self._columns in sizes[1:-1] or (bool(sizes) and sizes[0] in self._long))
