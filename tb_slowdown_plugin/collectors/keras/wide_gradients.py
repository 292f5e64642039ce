"""Gradients that are computed for variables which the optimizer does not move.

Such as those of an encoder whose head alone is trained: the backward pass through all of it is for
nothing, in every step from the first on, so no step is slower than another. The optimizer does not
get them, or gets them times zero. Or one tape is asked for gradients of one target again and again.

Cost: 0.5 us a `tape.gradient()` or `apply()` of eager code after the first 100. A traced function
is looked at once, at 10 to 30 us an operation, in the background, most of it in loops of the graph
and where sizes are open, and again where a factor of its gradients becomes zero, or ceases to be.
"""

from __future__ import annotations

import contextlib
import math
import sys
import weakref
from collections.abc import Collection, Generator, Mapping
from types import FrameType
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import WIDE_GRADIENT
from tb_slowdown_plugin.collectors.base import Context, Unavailable, find_keras
from tb_slowdown_plugin.collectors.graph_work.gradients.asked_gradients import Asked, Scope, Traced
from tb_slowdown_plugin.collectors.graph_work.gradients.gradient_use import count_places
from tb_slowdown_plugin.collectors.graph_work.needless_work import NeedlessWork
from tb_slowdown_plugin.collectors.hooks.converted_code import line_before
from tb_slowdown_plugin.collectors.hooks.installed_code import (
    is_generated,
    is_installed,
    package_of,
)
from tb_slowdown_plugin.collectors.hooks.method_hooks import LIBRARIES, MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, line_of
from tb_slowdown_plugin.collectors.keras.layer_lines import find_layer
from tb_slowdown_plugin.collectors.keras.metric_lines import metrics_by_handle
from tb_slowdown_plugin.records.types import Fact

_MOST_EAGER: Final = 100
"""Calls of eager code that are looked at: its steps do the same again and again."""

_MOST_PLACES: Final = 5

_MOST_TRACED: Final = 20
"""Traced functions that are looked at: of more, the newest ones."""

_MOST_AT_END: Final = 5
"""The same when the run ends, and the program waits: some may never have been looked at."""


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
        self._traced: dict[int, tuple[weakref.ref[Any], Scope]] = {}
        """Graph, by its identity, while it is alive -> what is known of it."""
        self._step = -1
        self._eager = Scope(0)
        self._left = _MOST_EAGER
        self._ended: list[Scope] = []
        """Of eager steps."""
        self._needless = NeedlessWork(context.emit, self._source, metrics_by_handle, find_layer)
        self._told: dict[str, Mapping[str, float]] = {}
        """Line -> what was told of it last."""
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.surround(keras.optimizers.Optimizer, "apply", self._applied)
        self._hooks.surround(backprop.GradientTape, "gradient", self._computed)
        with contextlib.suppress(ImportError, Unavailable):  # then eager code alone is looked at
            from tensorflow.python.eager.polymorphic_function import tracing_compilation

            self._hooks.surround(tracing_compilation, "_create_concrete_function", self._end_trace)

    def look_once(self) -> None:
        """Looks at graphs that are new, or whose gradients became zero, or ceased to be."""
        self._look_at_traced()

    def read(self) -> Mapping[str, float]:
        """No values: gradients that are not used are told as facts."""
        ended, self._ended = self._ended, []
        for scope in ended:
            self._look_at_eager(scope)
        return {}

    def stop(self) -> None:
        """Removes the hooks."""
        self._hooks.remove()
        for scope in self._ended:
            self._look_at_eager(scope)
        self._look_at_traced(_MOST_AT_END)

    def _look_at_traced(self, most: int = _MOST_TRACED) -> None:
        """Of what is traced at one line, the newest counts.

        Not before its trace has ended: TensorFlow can't be asked about a graph to which another
        thread adds operations.
        """
        newer: set[str] = set()
        for _, scope in reversed(list(self._traced.values())[-most:]):
            if scope.is_traced:
                self._look(scope, besides=newer)
            newer.update(asked.place for asked in scope.asked)

    def _end_trace(
        self, _function_type: Any, _context: Any, func_graph: Any, _options: Any
    ) -> Generator[None, Any, None]:
        yield
        if id(func_graph) in self._traced:
            self._traced[id(func_graph)][1].is_traced = True

    def _computed(
        self, tape: Any, target: Any, sources: Any, output_gradients: Any = None, *_: Any, **__: Any
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
            elements = {_identity(each): _elements_of(each) for each, _ in flat}
            asked = Asked(place, elements)
            scope.asked.append(asked)
            if scope is self._eager and output_gradients is None:
                scope.repeated.note(tape, nest.flatten(target), place, elements)
            targets = [found for each in nest.flatten(target) if (found := Traced.of(each))]
            if scope is not self._eager and targets:
                asked.targets = targets
                asked.gradients = {
                    _identity(each): found for each, got in flat if (found := Traced.of(got))
                }

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
                    if found := Traced.of(got):
                        scope.applied[_identity(each)].append(found)

    def _find_place(self, frame: FrameType | None) -> str:
        """Of the innermost code of the program, traced or not; "" where a library computes."""
        while frame is not None and package_of(frame) in (*LIBRARIES, __name__.partition(".")[0]):
            frame = frame.f_back
        if frame is None:
            return ""
        if is_generated(frame.f_code.co_filename):
            code, line = line_before(frame)
            return self._source.in_code(code, line) if code is not None else ""
        if is_installed(frame.f_code.co_filename):
            return ""
        return self._source.in_code(frame.f_code, line_of(frame))

    def _scope(self) -> Scope | None:
        """Of the code that runs now; None where enough of it is known."""
        if self._runs_eagerly():
            if self._left <= 0:
                return None
            self._left -= 1
            steps = self._context.steps_finished()
            if steps != self._step:
                self._ended.append(self._eager)
                self._step, self._eager = steps, Scope(steps)
            return self._eager
        graph = self._graph()
        while getattr(graph, "outer_graph", None) is not None and hasattr(
            graph.outer_graph, "outer_graph"
        ):
            graph = graph.outer_graph
        key, traced = id(graph), self._traced
        if key not in traced:
            alive = weakref.ref(graph, lambda _: traced.pop(key, None))
            traced[key] = alive, Scope(self._context.steps_finished())
        return traced[key][1]

    def _look_at_eager(self, scope: Scope) -> None:
        self._look(scope)
        for place, numbers in scope.repeated.numbers().items():
            if place not in self._told and len(self._told) < _MOST_PLACES:
                self._told[place] = numbers
                self._context.emit(Fact(WIDE_GRADIENT, place, numbers | {"since": scope.since}))

    def _look(self, scope: Scope, besides: Collection[str] = ()) -> None:
        if not scope.asked:
            return
        zeros = scope.find_zero_numbers()
        if scope.seen == (scope.calls, zeros):
            return
        since = scope.since if scope.seen is None else self._context.steps_finished()
        scope.seen = scope.calls, zeros
        self._needless.look(scope.asked, since)
        counted = count_places(scope, zeros) if scope.applied else {}
        for place, numbers in counted.items():
            before = self._told.get(place)
            if before is None:
                fresh = numbers.get("share", 1.0) != 0 and len(self._told) < _MOST_PLACES
            else:
                fresh = before != numbers and "share" in numbers  # not of each eager step
            if fresh and place not in besides:
                self._told[place] = numbers
                self._context.emit(Fact(WIDE_GRADIENT, place, numbers | {"since": since}))


def _identity(variable: Any) -> int:
    """Of TensorFlow's variable, which Keras's has inside."""
    return id(getattr(variable, "_value", variable))


def _elements_of(variable: Any) -> int:
    """Of a variable whose shape may change, those of the sides that are known."""
    shape = variable.shape
    if getattr(shape, "rank", len) is None:
        return 1
    return math.prod(each for each in shape if each is not None)
