"""Gradients that are computed for variables which the optimizer does not move.

Such as those of an encoder whose head alone is trained: the backward pass through all of it is for
nothing, in every step from the first on, so no step is slower than another. The optimizer does not
get them, or gets them times zero.

Cost: 0.5 us a `tape.gradient()` or `apply()` of eager code after the first 100. A traced function
whose gradients are too many is counted once, at 30 us an operation, in the background, and again
where a factor of its gradients becomes zero, or ceases to be.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.catalog.events import WIDE_GRADIENT
from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.graph_timing.graph_work import Gradients, share_of_graph
from tb_slowdown_plugin.collectors.graph_timing.zero_tensors import (
    GraphNumber,
    find_numbers,
    find_zeros,
)
from tb_slowdown_plugin.collectors.hooks.installed_code import (
    is_generated,
    is_installed,
    package_of,
)
from tb_slowdown_plugin.collectors.hooks.method_hooks import LIBRARIES, MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, code_of, line_of
from tb_slowdown_plugin.records.types import Fact

_MOST_EAGER: Final = 100
"""Calls of eager code that are looked at: its steps do the same again and again."""

_MOST_PLACES: Final = 5

_MOST_TRACED: Final = 20
"""Traced functions that are looked at: of more, the newest ones."""

_CONVERTS: Final = "converted_call"
"""The function of AutoGraph (2.16 and 2.21: autograph/impl/api.py) that calls what it has written
for its argument `f`, its local `converted_f`, which has the lines as `ag_source_map`."""


class _Traced(NamedTuple):
    """A tensor of a graph, which it does not keep alive."""

    graph: Callable[[], Any]
    name: str

    @classmethod
    def of(cls, tensor: Any) -> _Traced:
        """Also the values of the rows of an embedding."""
        dense = getattr(tensor, "values", tensor)
        return cls(weakref.ref(dense.graph), dense.name)

    def find(self) -> Any:
        """The tensor; None once its graph is gone."""
        graph = self.graph()
        return None if graph is None else graph.get_tensor_by_name(self.name)


@dataclass(slots=True)
class _Asked:
    """The variables of one call of `gradient`."""

    place: str
    """The line, "FitHead.step (probe.py:88)"."""
    elements: dict[int, int]
    """Variable, by its identity -> numbers in it."""
    targets: list[_Traced] = field(default_factory=list)
    gradients: dict[int, _Traced] = field(default_factory=dict)
    """Variable -> its gradient, in code that is traced."""


@dataclass(slots=True)
class _Scope:
    """What one traced function, or one eager step, computes and applies."""

    since: int
    """Steps that were finished before."""
    asked: list[_Asked] = field(default_factory=list)
    applied: dict[int, list[_Traced]] = field(default_factory=dict)
    """Variable -> what the optimizer gets for it, in code that is traced."""
    numbers: list[GraphNumber] | None = None
    """That what is applied is made of; None before they are sought."""
    calls_before: int = -1
    """When it was read last: more may come while it is traced."""
    seen: object = None
    """The calls, and the numbers that were zero, when it was looked at last."""

    @property
    def calls(self) -> int:
        return len(self.asked) + len(self.applied)

    def find_zero_numbers(self) -> list[GraphNumber]:
        """Those that are zero now, of what its gradients are made of when they are applied."""
        if self.numbers is None:
            got = (each.find() for all_of in self.applied.values() for each in all_of)
            self.numbers = find_numbers(tensor for tensor in got if tensor is not None)
        return [each for each in self.numbers if each.is_zero()]


class WideGradients:
    """Compares the variables of `tape.gradient()` with those that Keras's optimizer gets.

    Function by function, and step by step in eager code. Where a function applies none, its
    gradients are applied elsewhere, and nothing is told.
    """

    name = "wide_gradients"

    def start(self, context: Context) -> None:
        """Hooks the tape's gradient, and the optimizer's update.

        Raises:
          Unavailable: Keras has not been imported, or has another optimizer.
        """
        keras = find_keras()
        from tensorflow.python.eager import backprop
        from tensorflow.python.eager import context as eager
        from tensorflow.python.framework import ops

        self._context = context
        self._runs_eagerly = eager.executing_eagerly
        self._graph = ops.get_default_graph
        self._source = SourcePlaces.of_process()
        self._traced: weakref.WeakKeyDictionary[Any, _Scope] = weakref.WeakKeyDictionary()
        self._step = -1
        self._eager = _Scope(0)
        self._left = _MOST_EAGER
        self._ended: list[_Scope] = []
        """Of eager steps."""
        self._told: dict[str, Mapping[str, float]] = {}
        """Line -> what was told of it last."""
        self._hooks = MethodHooks(self.name)
        self._hooks.surround(keras.optimizers.Optimizer, "apply", self._applied)
        self._hooks.surround(backprop.GradientTape, "gradient", self._computed)

    def read(self) -> Mapping[str, float]:
        """No values: gradients that are not used are told as facts."""
        ended, self._ended = self._ended, []
        for scope in ended:
            self._look(scope)
        self._look_at_traced()
        return {}

    def stop(self) -> None:
        """Removes the hooks."""
        self._hooks.remove()
        for scope in self._ended:
            self._look(scope)
        self._look_at_traced(ended=True)

    def _look_at_traced(self, *, ended: bool = False) -> None:
        """Of what is traced at one line, the newest counts."""
        newer: set[str] = set()
        for scope in reversed(list(self._traced.values())[-_MOST_TRACED:]):
            calls = scope.calls
            if calls != scope.calls_before:
                scope.numbers = None
            if ended or calls == scope.calls_before:
                self._look(scope, besides=newer)
            scope.calls_before = calls
            newer.update(asked.place for asked in scope.asked)

    def _computed(
        self, _tape: Any, target: Any, sources: Any, *_: Any, **__: Any
    ) -> Generator[None, Any, None]:
        gradients = yield
        scope = self._scope()
        if scope is None:
            return
        from tensorflow import nest

        flat = [
            (variable, gradient)
            for variable, gradient in zip(
                nest.flatten(sources), nest.flatten(gradients), strict=False
            )
            if gradient is not None and hasattr(variable, "assign")
        ]
        place = self._find_place(sys._getframe(1)) if flat else ""
        if place:
            asked = _Asked(place, {_identity(each): math.prod(each.shape) for each, _ in flat})
            scope.asked.append(asked)
            if scope is not self._eager:
                asked.targets = [_Traced.of(each) for each in nest.flatten(target)]
                asked.gradients = {_identity(each): _Traced.of(got) for each, got in flat}

    def _applied(
        self, optimizer: Any, grads: Any, trainable_variables: Any = None
    ) -> Generator[None, Any, None]:
        yield
        scope = self._scope()
        if scope is not None:
            variables = trainable_variables
            if variables is None:
                variables = optimizer._trainable_variables
            for each in variables:
                scope.applied.setdefault(_identity(each), [])
            if scope is not self._eager and isinstance(grads, list | tuple):
                for each, got in zip(variables, grads, strict=False):
                    if got is not None:
                        scope.applied[_identity(each)].append(_Traced.of(got))

    def _find_place(self, frame: FrameType | None) -> str:
        """Of the innermost code of the program, traced or not; "" where a library computes."""
        while frame is not None and package_of(frame) in (*LIBRARIES, __name__.partition(".")[0]):
            frame = frame.f_back
        if frame is None:
            return ""
        if is_generated(frame.f_code.co_filename):
            code, line = _line_before(frame)
            return self._source.in_code(code, line) if code is not None else ""
        if is_installed(frame.f_code.co_filename):
            return ""
        return self._source.in_code(frame.f_code, line_of(frame))

    def _scope(self) -> _Scope | None:
        """Of the code that runs now; None where enough of it is known."""
        if self._runs_eagerly():
            if self._left <= 0:
                return None
            self._left -= 1
            steps = self._context.steps_finished()
            if steps != self._step:
                self._ended.append(self._eager)
                self._step, self._eager = steps, _Scope(steps)
            return self._eager
        graph = self._graph()
        while getattr(graph, "outer_graph", None) is not None and hasattr(
            graph.outer_graph, "outer_graph"
        ):
            graph = graph.outer_graph
        scope = self._traced.get(graph)
        if scope is None:
            scope = self._traced[graph] = _Scope(self._context.steps_finished())
        return scope

    def _look(self, scope: _Scope, besides: Collection[str] = ()) -> None:
        if not scope.applied:
            return
        zeros = scope.find_zero_numbers()
        if scope.seen == (scope.calls, zeros):
            return
        since = scope.since if scope.seen is None else self._context.steps_finished()
        scope.seen = scope.calls, zeros
        for place, numbers in _count_places(scope, zeros).items():
            before = self._told.get(place)
            if before is None:
                fresh = numbers.get("share", 1.0) != 0 and len(self._told) < _MOST_PLACES
            else:
                fresh = before != numbers and "share" in numbers  # not of each eager step
            if fresh and place not in besides:
                self._told[place] = numbers
                self._context.emit(Fact(WIDE_GRADIENT, place, numbers | {"since": since}))


def _count_places(scope: _Scope, zeros: Collection[GraphNumber]) -> dict[str, dict[str, float]]:
    """The numbers of the facts; where one line computes several times, those with most unused."""
    counted: dict[str, dict[str, float]] = {}
    for asked in scope.asked:
        numbers = _count(asked, scope.applied, zeros)
        before = counted.get(asked.place)
        if numbers and (before is None or _used(numbers) < _used(before)):
            counted[asked.place] = numbers
    return counted


def _used(numbers: Mapping[str, float]) -> float:
    return numbers["updated_elements"] / numbers["elements"]


def _count(
    asked: _Asked, applied: Mapping[int, list[_Traced]], zeros: Collection[GraphNumber]
) -> dict[str, float]:
    """The numbers of a fact; none where the optimizer updates none of the variables.

    Args:
      asked: What is computed.
      applied: What the optimizer gets.
      zeros: Numbers that are zero.
    """
    got = {each: applied[each] for each in asked.elements if each in applied}
    zeroed = _find_zeroed(got, zeros)
    moved = got.keys() - zeroed
    if not moved:
        return {}
    numbers: dict[str, float] = {
        "variables": len(asked.elements),
        "updated": len(moved),
        "elements": sum(asked.elements.values()),
        "updated_elements": sum(asked.elements[each] for each in moved),
    }
    if zeroed:
        numbers["zeroed"] = len(zeroed)
    if len(moved) == len(asked.elements):
        numbers["share"] = 0.0
    elif asked.gradients:
        numbers["share"] = _count_share(asked, moved)
    return numbers


def _find_zeroed(got: Mapping[int, list[_Traced]], zeros: Collection[GraphNumber]) -> set[int]:
    """The variables for which the optimizer gets zeros only."""
    known: dict[Any, set[str]] = {}
    for graph in {each.graph() for gradients in got.values() for each in gradients}:
        if graph is not None:
            of_it = [each.tensor for each in zeros if each.graph() is graph]
            known[graph] = find_zeros(graph, of_it)
    return {
        variable
        for variable, gradients in got.items()
        if gradients and all(each.name in known.get(each.graph(), ()) for each in gradients)
    }


def _count_share(asked: _Asked, moved: Collection[int]) -> float:
    """Of its graph; 0 where TensorFlow leaves them out, as nobody needs them."""
    found = {variable: gradient.find() for variable, gradient in asked.gradients.items()}
    targets = [each.find() for each in asked.targets]
    if any(each is None for each in (*targets, *found.values())):
        return 0.0  # its graph is gone
    used = [gradient for variable, gradient in found.items() if variable in moved]
    unused = [gradient for variable, gradient in found.items() if variable not in moved]
    if not any(gradient.consumers() for gradient in unused):
        return 0.0
    return share_of_graph(Gradients(targets, used, unused))


def _line_before(frame: FrameType) -> tuple[CodeType | None, int]:
    """The code that AutoGraph has rewritten to that of a frame, and the line in it.

    None where it doesn't tell the code; the first line where it doesn't tell the line.
    """
    caller = frame.f_back
    if caller is None or caller.f_code.co_name != _CONVERTS:
        return None, 0
    known = caller.f_locals
    code = code_of(known.get("f"))
    if code is None:
        return None, 0
    lines = getattr(known.get("converted_f"), "ag_source_map", None) or {}
    for written, origin in lines.items():
        if (written.filename, written.lineno) == (frame.f_code.co_filename, frame.f_lineno):
            return code, origin.loc.lineno
    return code, code.co_firstlineno


def _identity(variable: Any) -> int:
    """Of TensorFlow's variable, which Keras's has inside."""
    return id(getattr(variable, "_value", variable))
