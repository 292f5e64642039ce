"""XLA compiling a graph again for shapes it has not met, which no trace shows.

Cost: nothing for functions that are not jitted, or whose shapes are all fixed.
A call of the others costs 1 to 2 us, see `xla_shapes` and `xla_calls`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.first_execution import hide_frame
from tb_slowdown_plugin.collectors.tracing import TraceCollector
from tb_slowdown_plugin.collectors.xla_calls import NotedCalls
from tb_slowdown_plugin.collectors.xla_shapes import Compilation, ShapesInPython, ShapesNoted
from tb_slowdown_plugin.records import names
from tb_slowdown_plugin.records.types import Fact, Trace

_METHOD: Final = "_call_flat"


class XlaCompilations:
    """Books what the first run with new shapes takes beyond a steady run.

    With `jit_compile=True`, XLA compiles a graph for each set of input shapes.
    TensorFlow retraces for new shapes as well, until `reduce_retracing` (Keras
    always sets it) or an `input_signature` has left a dimension open: from then
    on only XLA compiles, and no trace tells. The first run of a new graph
    belongs to its trace. Compilations for new values of arguments that XLA
    needs as constants are not seen.

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
        self._traces.observers.append(self._observe)

    def stop(self) -> None:
        """Gives every function its own method back; graphs traced so far keep noting shapes."""
        self._traces.observers.remove(self._observe)
        for function, run in list(self._watched.items()):
            if vars(function).get(_METHOD) is run:
                vars(function).pop(_METHOD)

    def _observe(self, function: Any, trace: Trace) -> None:
        self._guard(lambda: self._watch(function, trace))

    def _watch(self, function: Any, trace: Trace) -> None:
        if trace.jit_compile:
            varying = _varying_inputs(function)
            if varying:
                subject = f"{trace.function} ({trace.location})"
                self._hook(function, ShapesInPython(subject, varying))
        elif (call := self._calls.of(function)) is not None:
            self._hook(function, ShapesNoted(call))

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
                        inputs = [tensor_inputs[index] for index in shapes.varying]
                        self._guard(lambda: self._calls.add(shapes.subject, inputs))
                    return call_flat(function, tensor_inputs, captured_inputs)
                began_ns = now_ns()
                outputs = call_flat(function, tensor_inputs, captured_inputs)
                compilation = shapes.note(tensor_inputs, now_ns() - began_ns)
            except BaseException as error:
                error.__traceback__ = hide_frame(error)
                raise
            if compilation is not None:
                self._tell(compilation)
            return outputs

        self._watched[function] = run
        setattr(function, _METHOD, run)

    def _tell(self, compilation: Compilation) -> None:
        watch = self._context.stopwatch
        if watch.is_mine():
            now_ns = self._context.clock.monotonic_ns()
            watch.open(names.XLA_COMPILATION, now_ns - compilation.excess_ns)
            watch.close()
        numbers = {"seconds": compilation.excess_ns / 1e9, "shapes_seen": compilation.shapes_seen}
        self._context.emit(Fact("xla_compilation", compilation.subject, numbers))

    def _guard(self, build: Callable[[], None]) -> None:
        try:
            build()
        except Exception as error:  # noqa: BLE001 - the user's function must run all the same
            self._context.report_failure(
                self.name, f"a jitted function can't be watched: {type(error).__name__}"
            )


def _varying_inputs(function: Any) -> list[int]:
    """Places of the inputs of a `ConcreteFunction`, captures excepted, with an open dimension."""
    inputs = function.inputs[: len(function.inputs) - len(function.captured_inputs)]
    return [index for index, each in enumerate(inputs) if not each.shape.is_fully_defined()]
