"""Functions that train on arguments which are the same tensors in each call: what that spares.

So is what they make of such arguments by the weights of another model, which are no more trained:
whatever the graph only reads counts, if it holds the same 20 steps later.

Cost: 3 us in each of the first 20 calls of a function, 0.1 us in later ones. Its graph is then
looked at once, in the background, at 10 to 30 us an operation, with 64 rows of each large matrix;
where such weights matter, three rows of each of them are read twice.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.catalog.events import UNCHANGING_WORK, ZERO_MATRIX
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.graph_work.needless.products.zero_matrices import (
    ZeroMatrix,
    find_zero_matrix,
)
from tb_slowdown_plugin.collectors.graph_work.needless.unchanging import Unchanging, find_unchanging
from tb_slowdown_plugin.collectors.graph_work.weights import changes_variables, find_changing
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.input.padded_columns import PaddedColumns
from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector
from tb_slowdown_plugin.records.types import Fact

_CALLS: Final = 20
"""Of one function that are compared, one after the other."""
_MOST_FUNCTIONS: Final = 20
_MOST_ARGUMENTS: Final = 100


class _Calls:
    """Those of one function so far."""

    __slots__ = ("count", "function", "same", "since")

    def __init__(self, function: Any, leaves: list[Any], since: int) -> None:
        self.function = weakref.ref(function)
        self.same = [_refer_to(each) for each in leaves]
        """The tensors that were given to all of them."""
        self.count = 1
        self.since = since

    def compare(self, leaves: list[Any]) -> None:
        self.count += 1
        if len(leaves) != len(self.same):
            self.same = [None] * len(self.same)
        self.same = [
            known if known is not None and known() is each else None
            for known, each in zip(self.same, leaves, strict=False)
        ]


class _HeldBack(NamedTuple):
    """What is told of a function later, when it is seen whether variables still hold the same."""

    where_they_hold: Fact | None
    otherwise: Fact | None
    held: list[tuple[weakref.ReferenceType[Any], bytes]]
    """Each variable, and some of what it has held."""
    until: int
    """So many steps are finished."""


class UnchangingWork:
    """Tells lines that compute the same in each call, or multiply by a matrix of zeros.

    Args:
      tracing: Follows the calls of functions.
    """

    name = "unchanging_work"

    def __init__(self, tracing: TraceCollector) -> None:
        self._tracing = tracing

    def start(self, context: Context) -> None:
        """Follows the calls of functions.

        Raises:
          Unavailable: TensorFlow is not there.
        """
        from tensorflow import nest

        self._flatten: Callable[[Any], list[Any]] = nest.flatten
        self._context = context
        self._fail = context.failure_of(self.name)
        self._source = SourcePlaces.of_process()
        self._functions: dict[int, _Calls | None] = {}
        """By bit; None of those that are done."""
        self._compared: deque[_Calls] = deque()
        self._waiting: list[_HeldBack] = []
        self._padded = PaddedColumns(context.emit)
        self._tracing.follow_calls(self._look)

    def look_once(self) -> None:
        """Looks at the graphs of functions whose calls were compared."""
        while self._compared:
            self._look_at(self._compared.popleft())
        if self._waiting:
            self._look_at_variables()
        self._padded.look()

    def read(self) -> Mapping[str, float]:
        """No values: what is found is told as facts."""
        return {}

    def stop(self) -> None:
        """Follows them no more."""
        self._tracing.leave_calls(self._look)

    def _look(self, bit: int, function: Any, args: Any, kwargs: Any) -> None:
        known = self._functions.get(bit, self)
        if known is None:
            return
        try:
            leaves = _tensors_in(self._flatten((args or (), kwargs or {})))
            if known is self:
                fits = len(self._functions) < _MOST_FUNCTIONS and len(leaves) <= _MOST_ARGUMENTS
                since = self._context.steps_finished()
                self._functions[bit] = _Calls(function, leaves, since) if fits else None
                return
            assert isinstance(known, _Calls)
            known.compare(leaves)
            if known.count.bit_count() == 1:
                self._padded.keep(leaves)
            if known.function() is not function:  # it was traced again
                self._functions[bit] = None
            elif known.count == _CALLS:
                self._functions[bit] = None
                self._compared.append(known)
        except Exception as error:  # noqa: BLE001 - TensorFlow must go on
            self._functions[bit] = None
            self._fail(error)

    def _look_at(self, calls: _Calls) -> None:
        function = calls.function()
        if function is None or not changes_variables(function.graph.get_operations()):
            return
        same = _find_same(function, calls, self._flatten)
        found = find_unchanging(function.graph, same)
        read = _find_read(function)
        with_read = find_unchanging(function.graph, same.keys() | read) if read else None
        told = self._fact_of(UNCHANGING_WORK, found, calls)
        if with_read is not None and (found is None or with_read.share > found.share):
            waits = self._fact_of(UNCHANGING_WORK, with_read, calls)
            held = [(weakref.ref(variable), _read_some(variable)) for variable in read.values()]
            until = self._context.steps_finished() + _CALLS
            self._waiting.append(_HeldBack(waits, told, held, until))
        else:
            self._tell(told)
        zeros = find_zero_matrix(function.graph, same)
        self._tell(self._fact_of(ZERO_MATRIX, zeros, calls))

    def _look_at_variables(self) -> None:
        finished = self._context.steps_finished()
        for each in [one for one in self._waiting if one.until <= finished]:
            self._waiting.remove(each)
            variables = [(variable(), numbers) for variable, numbers in each.held]
            same = all(one is not None and _read_some(one) == numbers for one, numbers in variables)
            self._tell(each.where_they_hold if same else each.otherwise)

    def _fact_of(
        self, name: str, found: Unchanging | ZeroMatrix | None, calls: _Calls
    ) -> Fact | None:
        place = self._source.of_operation(found.operation) if found is not None else ""
        if found is None or not place:
            return None
        told = {key: value for key, value in found._asdict().items() if key != "operation"}
        return Fact(name, place, {**told, "since": float(calls.since)})

    def _tell(self, fact: Fact | None) -> None:
        if fact is not None:
            self._context.emit(fact)


def _find_read(function: Any) -> dict[str, Any]:
    """The names of arguments in its graph -> variables that it only reads."""
    changing = find_changing(function.graph.get_operations())
    handles = {id(outside): inside.name for outside, inside in function.graph.captures}
    names = ((handles.get(id(each.handle)), each) for each in function.graph.variables)
    return {name: each for name, each in names if name is not None and name not in changing}


def _read_some(variable: Any) -> bytes:
    """Of three of its rows, what they hold; of a single number that."""
    if not variable.shape.rank:
        return bytes(variable.numpy().tobytes())
    last = variable.shape[0] - 1
    return bytes(variable.sparse_read([0, last // 2, last]).numpy().tobytes())


def _find_same(function: Any, calls: _Calls, flatten: Callable[[Any], list[Any]]) -> dict[str, Any]:
    """The names of arguments in its graph -> what each of them is given in all calls.

    And those of tensors that it has captured.
    """
    graph = function.graph
    same = {
        inside.name: outside
        for outside, inside in graph.captures
        if hasattr(outside, "numpy") and outside.dtype.name not in ("resource", "variant")
    }
    specs = _tensors_in(flatten(function.structured_input_signature))
    given = [tensor for tensor in calls.same if tensor is not None]
    if len(specs) == len(calls.same) and given:
        for spec, argument, tensor in zip(specs, graph.inputs, calls.same, strict=False):
            value = tensor() if tensor is not None else None
            if value is not None and spec.shape.is_compatible_with(value.shape):
                same[argument.name] = value
    return same


def _tensors_in(leaves: Iterable[Any]) -> list[Any]:
    """What has a shape and a type, as tensors and arrays have, and their specifications."""
    return [each for each in leaves if hasattr(each, "shape") and hasattr(each, "dtype")]


def _refer_to(value: Any) -> Callable[[], Any] | None:
    """To a tensor with dimensions, whose values stay as they are; to nothing else."""
    is_tensor = hasattr(value, "numpy") and not hasattr(value, "assign")
    return weakref.ref(value) if is_tensor and len(value.shape) else None
