"""Gradients that are computed for variables which the optimizer does not update.

Such as those of an encoder whose head alone is trained: the backward pass through all of it is for
nothing, in every step from the first on, so no step is slower than another.

Cost: 0.5 us a `tape.gradient()` or `apply()` of eager code after the first 100. A traced function
whose gradients are too many is counted once, at 30 us an operation, in the background.
"""

from __future__ import annotations

import math
import sys
import weakref
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import WIDE_GRADIENT
from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.graph_timing.graph_work import Gradients, share_of_graph
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

_CONVERTS: Final = "converted_call"
"""The function of AutoGraph (2.16 and 2.21: autograph/impl/api.py) that calls what it has written
for its argument `f`, its local `converted_f`, which has the lines as `ag_source_map`."""


@dataclass(slots=True)
class _Asked:
    """The variables of one call of `gradient`."""

    place: str
    """The line, "FitHead.step (probe.py:88)"."""
    elements: dict[int, int]
    """Variable, by its identity -> numbers in it."""
    target: Any
    gradients: dict[int, Any]
    """Variable -> its gradient, in code that is traced."""


@dataclass(slots=True)
class _Scope:
    """What one traced function, or one eager step, computes and applies."""

    asked: list[_Asked] = field(default_factory=list)
    applied: set[int] = field(default_factory=set)
    seen: int = -1
    """Calls when it was looked at before: more may come while it is traced."""

    @property
    def calls(self) -> int:
        return len(self.asked) + len(self.applied)


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
        self._eager = _Scope()
        self._left = _MOST_EAGER
        self._ended: list[_Scope] = []
        """Of eager steps."""
        self._told: set[str] = set()
        self._hooks = MethodHooks(self.name)
        self._hooks.surround(keras.optimizers.Optimizer, "apply", self._applied)
        self._hooks.surround(backprop.GradientTape, "gradient", self._computed)

    def read(self) -> Mapping[str, float]:
        """No values: gradients that are not used are told as facts."""
        ended, self._ended = self._ended, []
        for scope in ended:
            self._look(scope)
        for scope in list(self._traced.values()):
            if scope.seen == scope.calls:
                self._look(scope)
            scope.seen = scope.calls
        return {}

    def stop(self) -> None:
        """Removes the hooks."""
        self._hooks.remove()
        for scope in [*self._ended, *self._traced.values()]:
            self._look(scope)

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
            elements = {_identity(variable): math.prod(variable.shape) for variable, _ in flat}
            symbolic = {} if scope is self._eager else {_identity(v): g for v, g in flat}
            scope.asked.append(_Asked(place, elements, target if symbolic else None, symbolic))

    def _applied(
        self, optimizer: Any, _grads: Any, trainable_variables: Any = None
    ) -> Generator[None, Any, None]:
        yield
        scope = self._scope()
        if scope is not None:
            variables = trainable_variables
            if variables is None:
                variables = optimizer._trainable_variables
            scope.applied.update(_identity(variable) for variable in variables)

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
                self._step, self._eager = steps, _Scope()
            return self._eager
        graph = self._graph()
        while getattr(graph, "outer_graph", None) is not None and hasattr(
            graph.outer_graph, "outer_graph"
        ):
            graph = graph.outer_graph
        return self._traced.setdefault(graph, _Scope())

    def _look(self, scope: _Scope) -> None:
        if not scope.applied or len(self._told) >= _MOST_PLACES:
            return
        for asked in scope.asked:
            used = sum(size for each, size in asked.elements.items() if each in scope.applied)
            whole = sum(asked.elements.values())
            if not 0 < used < whole or asked.place in self._told:
                continue
            numbers: dict[str, float] = {
                "variables": len(asked.elements),
                "updated": sum(each in scope.applied for each in asked.elements),
                "elements": whole,
                "updated_elements": used,
            }
            if asked.gradients:
                of = _split(asked, scope.applied)
                if not any(gradient.consumers() for gradient in of.unused):
                    continue  # TensorFlow leaves out what nobody needs
                numbers["share"] = share_of_graph(of)
            self._told.add(asked.place)
            self._context.emit(Fact(WIDE_GRADIENT, asked.place, numbers))
        scope.asked.clear()  # it holds the graph


def _split(asked: _Asked, applied: set[int]) -> Gradients:
    used = [g for each, g in asked.gradients.items() if each in applied]
    unused = [g for each, g in asked.gradients.items() if each not in applied]
    return Gradients(asked.target, used, unused)


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
