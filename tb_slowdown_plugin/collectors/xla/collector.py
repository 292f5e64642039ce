"""XLA compiling a graph again for shapes or values it has not met, which no trace shows.

Cost: once for each trace of a jitted function what `constant_inputs` says. Nothing for calls of
functions that are not jitted, or whose shapes are all fixed and of which XLA needs no value.
A call of the others costs 1 to 3 us, 15 us more for each variable of which XLA needs the value,
see `compilations` and `graph_calls`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector
from tb_slowdown_plugin.collectors.tracing.first_executions import hide_frame
from tb_slowdown_plugin.collectors.xla.compilations import (
    Compilation,
    HandedOn,
    ShapesInPython,
    ShapesNoted,
)
from tb_slowdown_plugin.collectors.xla.constant_inputs import (
    NeededValue,
    arguments_of,
    needed_values,
)
from tb_slowdown_plugin.collectors.xla.graph_calls import NotedCalls
from tb_slowdown_plugin.records.types import Fact, Trace

_METHOD: Final = "_call_flat"


class XlaCompilations:
    """Books what the first run with new shapes or values takes beyond a steady run.

    With `jit_compile=True`, XLA compiles a graph for each set of input shapes.
    TensorFlow retraces for new shapes as well, until `reduce_retracing` (Keras
    always sets it) or an `input_signature` has left a dimension open: from then
    on only XLA compiles, and no trace tells. Nor does one where an operation
    such as `tf.slice` needs the value of an argument, or of a variable, as a
    constant: XLA compiles for each new value. The first run of a new graph
    belongs to its trace.

    Where a graph calls a jitted function, it is watched if it is fed by an iterator,
    or hands its own arguments on; of values only those of arguments.

    Args:
      traces: Tells which functions are jitted.
    """

    name = "xla_compilation"

    def __init__(self, traces: TraceCollector) -> None:
        self._traces = traces

    def start(self, context: Context) -> None:
        """Begins to watch functions that are traced from now on.

        Raises:
          Unavailable: The collector of traces does not run.
        """
        if not self._traces.is_running:
            raise Unavailable("it learns of jitted functions from `tracing`, which does not run")
        import tensorflow as tf

        self._context = context
        self._executing_eagerly = tf.executing_eagerly
        self._watched: weakref.WeakKeyDictionary[Any, Callable[..., Any]] = (
            weakref.WeakKeyDictionary()
        )
        self._calls = NotedCalls()
        self._handed_on: weakref.WeakKeyDictionary[Any, list[HandedOn]] = (
            weakref.WeakKeyDictionary()
        )
        self._places = SourcePlaces.of_process()
        self._needed: dict[str, list[NeededValue]] = {}
        self._traces.observers.append(self._observe)

    def stop(self) -> None:
        """Gives every function its own method back; graphs traced so far keep noting shapes."""
        self._traces.observers.remove(self._observe)
        for function, run in list(self._watched.items()):
            self._leave(function, run)

    def _leave(self, function: Any, run: Callable[..., Any]) -> None:
        if vars(function).get(_METHOD) is run:
            vars(function).pop(_METHOD)

    def _observe(self, function: Any, trace: Trace) -> None:
        self._guard(lambda: self._watch(function, trace))

    def _watch(self, function: Any, trace: Trace) -> None:
        if trace.jit_compile:
            varying = _varying_inputs(function)
            needed = needed_values(function, self._places)
            if varying or needed:
                subject = f"{trace.function} ({trace.location})"
                self._needed[subject] = needed
                self._hook(function, ShapesInPython(subject, varying, needed))
        elif (call := self._calls.of(function)) is not None:
            self._hook(function, ShapesNoted(call))
        elif len(calls := self._handed_on.get(function.graph, [])) == 1:
            (handed_on,) = calls
            if (shapes := handed_on.shapes_in(function)) is not None:
                self._hook(function, shapes)

    def _hook(self, function: Any, shapes: ShapesInPython | ShapesNoted) -> None:
        # a strong reference would be a cycle, and keep graphs alive until a collection
        reference = weakref.ref(function)
        call_flat = type(function)._call_flat
        now_ns = self._context.clock.monotonic_ns

        def run(tensor_inputs: Any, captured_inputs: Any) -> Any:
            function = reference()
            try:
                if not self._executing_eagerly():
                    if isinstance(shapes, ShapesInPython):
                        self._guard(lambda: self._note_in_graph(shapes, tensor_inputs))
                    return call_flat(function, tensor_inputs, captured_inputs)
                try:
                    given = shapes.look(tensor_inputs, captured_inputs)
                except Exception as error:  # noqa: BLE001 - the user's function must run all the same
                    self._leave(function, run)
                    self._report(error)
                    return call_flat(function, tensor_inputs, captured_inputs)
                began_ns = now_ns()
                outputs = call_flat(function, tensor_inputs, captured_inputs)
                compilation = shapes.note(given, now_ns() - began_ns)  # type: ignore[arg-type]
            except BaseException as error:
                error.__traceback__ = hide_frame(error)
                raise
            if compilation is not None:
                self._tell(compilation)
            return outputs

        self._watched[function] = run
        setattr(function, _METHOD, run)

    def _note_in_graph(self, shapes: ShapesInPython, arguments: Any) -> None:
        import tensorflow as tf

        inputs = [arguments[index] for index in shapes.varying]
        known = [each for each in shapes.needed if each.place < len(arguments)]
        needed = [arguments[each.place] for each in known]
        if not self._calls.add(shapes.subject, inputs, needed):
            graph = tf.compat.v1.get_default_graph()
            call = HandedOn.of(shapes.subject, inputs, zip(needed, known, strict=True))
            self._handed_on.setdefault(graph, []).append(call)

    def _tell(self, compilation: Compilation) -> None:
        watch = self._context.stopwatch
        if watch.is_mine():
            now_ns = self._context.clock.monotonic_ns()
            watch.open(names.XLA_COMPILATION, now_ns - compilation.excess_ns)
            watch.close()
        numbers = {
            "seconds": compilation.excess_ns / 1e9,
            "shapes_seen": compilation.shapes_seen,
            "values_seen": compilation.values_seen,
        }
        subject = compilation.subject
        self._context.emit(Fact(names.XLA_COMPILATION, subject, numbers))
        if compilation.values_seen > 1:
            for needed in self._needed.pop(subject, ()):
                self._context.emit(Fact(names.XLA_NEEDS, f"{subject}: {needed.text}"))

    def _guard(self, build: Callable[[], None]) -> None:
        try:
            build()
        except Exception as error:  # noqa: BLE001 - the user's function must run all the same
            self._report(error)

    def _report(self, error: Exception) -> None:
        self._context.report_failure(
            self.name, f"a jitted function can't be watched: {type(error).__name__}"
        )


def _varying_inputs(function: Any) -> list[int]:
    """Places of the arguments of a `ConcreteFunction` with an open dimension."""
    arguments = enumerate(arguments_of(function))
    return [index for index, each in arguments if not each.shape.is_fully_defined()]
