"""A pass through a model on the batch that a step has just learned from, in a call of its own.

Such as `metric.update_state(y, model(x))`, or another `tf.function` for it, after the function that
trains: what the first pass gives is of the weights before the update. Told where the batch is one
object, and the weights are of those that were trained; what it takes, samples of the stack tell.

Cost: nothing that can be measured in a call of a layer without a graph, which takes 400 us, and 8
us in each call of a `tf.function` that is compared: the first 500, and 8 of each 128 after them.
"""

from __future__ import annotations

import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from threading import get_ident
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.catalog.events import REPEATED_PASS
from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.graph_work.operation_costs import is_product
from tb_slowdown_plugin.collectors.graph_work.weights import UPDATES, weights_of
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_frame
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, line_of
from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surrounding
from tb_slowdown_plugin.collectors.python.eager_operations import caller_of_model
from tb_slowdown_plugin.collectors.python.still_frames import stack_of
from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector
from tb_slowdown_plugin.records.types import Fact

_ALL: Final = 500
"""Calls of functions that are compared at the beginning."""
_EVERY: Final = 128
"""Of so many calls after them..."""
_STRETCH: Final = 8
"""...so many, one after the other."""
_SEEN: Final = 3
"""Times that a line repeats a pass before it is told."""
_MOST_LINES: Final = 5


class WeightUse(NamedTuple):
    """What a `tf.function` computes with."""

    weights: frozenset[int]
    """Handles of variables, by their identity, that its products take."""
    trains: bool
    """Whether it changes some of them."""


def describe_function(graph: Any) -> WeightUse:
    """What a graph computes with: 2 us for each of its operations.

    Args:
      graph: Of one trace, not of TensorFlow 1.
    """
    held = {inside.op.name: id(outside) for outside, inside in graph.captures}
    operations = graph.get_operations()
    weights = {held.get(weights_of(each), 0) for each in operations if is_product(each)} - {0}
    changed = {
        held.get(each.inputs[0].op.name)
        for each in operations
        if each.type.startswith(UPDATES) and each.inputs
    }
    return WeightUse(frozenset(weights), bool(weights & changed))


class BatchPasses:
    """Compares what functions and models are given with what was learned from last.

    Args:
      emit: Takes one fact for each line.
      place_of: Names a line of code.
      steps_finished: How many there are by now.
    """

    def __init__(
        self,
        emit: Callable[[Fact], None],
        place_of: Callable[[CodeType, int], str],
        steps_finished: Callable[[], int],
    ) -> None:
        self._emit = emit
        self._place_of = place_of
        self._steps_finished = steps_finished
        self._functions: dict[int, WeightUse] = {}
        self._calls = 0
        self._seen: Counter[str] = Counter()
        self._trained: WeightUse | None = None
        self._at: tuple[CodeType, int] | None = None
        """The line that trained."""
        self._lines: set[str] = set()
        """That have repeated a pass since then."""
        self.batch: Callable[[], Any] | None = None
        """What was learned from last; None where that isn't to be compared."""

    def look_at_function(self, bit: int, function: Any, arguments: Iterable[Any]) -> None:
        """A function is called.

        Args:
          bit: Tells functions apart.
          function: A `ConcreteFunction`.
          arguments: All that it is given.
        """
        self._calls += 1
        if self._calls > _ALL and self._calls % _EVERY >= _STRETCH:
            self.batch = None
            return
        known = self._functions.get(bit)
        if known is None:
            known = self._functions[bit] = describe_function(function.graph)
        batch = _find_batch(arguments) if known.weights else None
        if batch is None:
            return
        frame = calling_frame(sys._getframe(1))
        if known.trains:
            self.batch, self._trained = weakref.ref(batch), known
            self._lines.clear()
            self._at = None if frame is None else (frame.f_code, line_of(frame))
        elif self.batch is not None and self.batch() is batch:
            self._compare(known.weights, frame)

    def look_at_model(self, layer: Any, frame: FrameType | None) -> None:
        """A layer is called, without a graph, on that batch."""
        variables = (getattr(each, "_value", each) for each in layer.weights)
        handles = frozenset(id(each.handle) for each in variables if hasattr(each, "handle"))
        self._compare(handles, frame, some=True)

    def _compare(
        self, weights: frozenset[int], frame: FrameType | None, some: bool = False
    ) -> None:
        """Tells a line whose weights were trained.

        Args:
          weights: That it computes with.
          frame: That calls it.
          some: Whether others may be among them, such as those of a normalization.
        """
        if self._trained is None or frame is None:
            return
        trained = self._trained.weights
        if not (weights & trained if some else weights <= trained):
            return
        place = self._place_of(frame.f_code, line_of(frame))
        if place in self._lines:
            return  # a layer of that model
        self._lines.add(place)
        self._seen[place] += 1
        if self._seen[place] == _SEEN and len(self._seen) <= _MOST_LINES:
            code, line = self._at or (frame.f_code, 0)
            after = float(line) if code.co_filename == frame.f_code.co_filename else 0.0
            told = {"called": 1.0, "after": after, "since": float(self._steps_finished())}
            self._emit(Fact(REPEATED_PASS, place, told))


def _find_batch(arguments: Iterable[Any]) -> Any:
    """The largest array or tensor with a dimension; None where there is none."""
    best, most = None, 0
    for each in arguments:
        if isinstance(each, list | tuple):
            each = _find_batch(each)
        elif isinstance(each, Mapping):
            each = _find_batch(each.values())
        shape = getattr(each, "shape", None)
        if not shape or hasattr(each, "assign"):
            continue
        size = 1
        for side in shape:
            size *= side or 1
        if size > most:
            best, most = each, size
    return best


class _ModelCalls(Surrounding):
    """Sees each call of a layer in the training thread."""

    __slots__ = ("_fail", "_passes", "_watch")

    def __init__(
        self, passes: BatchPasses, watch: Any, fail: Callable[[Exception], object]
    ) -> None:
        self._passes = passes
        self._watch = watch
        self._fail = fail

    def begin(self, layer: Any, *args: Any, **kwargs: Any) -> None:
        """Compares the batch."""
        batch = self._passes.batch
        if batch is None or get_ident() != self._watch.thread:
            return
        try:
            given = _find_batch((*args, *kwargs.values()))
            if given is not None and given is batch():
                self._passes.look_at_model(layer, caller_of_model(stack_of(sys._getframe(1))))
        except Exception as error:  # noqa: BLE001 - the program must go on
            self._fail(error)

    def end(self, _: None, result: Any) -> Any:
        """Leaves the result as it is."""
        return result

    def fail(self, _: None, __: BaseException) -> None:
        """Leaves the error as it is."""


class RepeatedPasses:
    """Tells lines that run a model once more on the batch of the step.

    Args:
      tracing: Follows the calls of functions.
    """

    name = "repeated_passes"

    def __init__(self, tracing: TraceCollector) -> None:
        self._tracing = tracing

    def start(self, context: Context) -> None:
        """Hooks layers, and follows the calls of functions.

        Raises:
          Unavailable: Keras has not been imported.
        """
        layer = find_keras().layers.Layer

        passes = self._passes = BatchPasses(
            context.emit, SourcePlaces.of_process().in_code, context.steps_finished
        )
        fail = context.failure_of(self.name)
        self._hooks = MethodHooks(self.name)
        self._hooks.surround(layer, "__call__", _ModelCalls(passes, context.stopwatch, fail))

        def look(bit: int, function: Any, args: Any, kwargs: Any) -> None:
            try:
                passes.look_at_function(bit, function, (*(args or ()), *(kwargs or {}).values()))
            except Exception as error:  # noqa: BLE001 - TensorFlow must go on
                fail(error)

        self._look = look
        self._tracing.follow_calls(look)

    def stop(self) -> None:
        """Removes the hooks."""
        self._tracing.leave_calls(self._look)
        self._hooks.remove()
