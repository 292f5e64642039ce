"""Every trace of a `tf.function` in the process: what it cost and which argument changed.

Two functions of TensorFlow's module `tracing_compilation` are hooked.
`_maybe_define_function` runs on each call of a `tf.function` and only notes
the time; `_create_concrete_function` runs when a trace happens. TensorFlow
looks both up in the module at each call, so that user functions, Keras's,
tf.data's and nested ones are all seen.

The two are textually the same in TensorFlow 2.16 and 2.21. Where they are not
there, or take other arguments, the collector says so and does nothing.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import sys
import threading
from collections.abc import Callable, Generator, MutableMapping
from types import FrameType
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import CALLED_AT, FETCHED_AT, OPEN_LOOP
from tb_slowdown_plugin.catalog.names import FUNCTION_OPTIONS, TRACING, account
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.graph_work.needless_work import NeedlessWork
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.tensorflow_internals import (
    argument_of_turns,
    has_open_loop,
)
from tb_slowdown_plugin.collectors.tracing.argument_sizes import ArgumentSizes
from tb_slowdown_plugin.collectors.tracing.first_executions import FirstExecutions
from tb_slowdown_plugin.collectors.tracing.function_calls import (
    CallObserver,
    FunctionCalls,
    OpenTrace,
    ThreadTraces,
)
from tb_slowdown_plugin.collectors.tracing.functions import TracedFunctions
from tb_slowdown_plugin.collectors.tracing.graph_size import trained_variables, variable_elements
from tb_slowdown_plugin.collectors.tracing.sessions.session_calls import SessionRuns
from tb_slowdown_plugin.collectors.tracing.sessions.session_graphs import SessionGraphs
from tb_slowdown_plugin.collectors.tracing.sessions.session_repeats import SessionRepeats
from tb_slowdown_plugin.collectors.tracing.sessions.session_work import SessionWork
from tb_slowdown_plugin.collectors.tracing.spans import Spans
from tb_slowdown_plugin.collectors.tracing.step_functions import StepFunctions
from tb_slowdown_plugin.collectors.tracing.subjects import Subject, Subjects
from tb_slowdown_plugin.records.types import Fact, Trace, What

_MOST_CALLERS: Final = 20
"""Lines that have a function traced again, of which a record has the place."""
_DEFINE = "_maybe_define_function"
_CREATE = "_create_concrete_function"
_PARAMETERS = {
    _DEFINE: ["args", "kwargs", "tracing_options"],
    _CREATE: ["function_type", "type_context", "func_graph", "tracing_options"],
}


class TraceCollector:
    """Reports traces and the first executions of what was traced."""

    name = "tracing"

    def __init__(self) -> None:
        self._running = False
        self._hooks = MethodHooks(self.name, self._report)
        self.observers: list[Callable[[Any, Trace], None]] = []
        """Called with each `ConcreteFunction` that a trace has made, before it runs."""

    @property
    def is_running(self) -> bool:
        """Whether traces are seen."""
        return self._running

    @property
    def steady_ns(self) -> MutableMapping[Any, int]:
        """What a usual run takes of each `ConcreteFunction` that has run twice."""
        return self._executions.steady_ns

    def start(self, context: Context) -> None:
        """Installs the hooks.

        Raises:
          Unavailable: TensorFlow is not there, or not as this collector knows it.
        """
        module, self._executing_eagerly = _find_hooks()
        self._context = context
        self._spans = Spans(context.clock, context.stopwatch)
        self._executions = FirstExecutions(self._spans, self._emit, self._executing_eagerly)
        self._subjects = Subjects.of_process()
        self._functions = TracedFunctions()
        self._step_functions = StepFunctions(self._emit)
        self._argument_sizes = ArgumentSizes()
        # a finalizer that calls a tf.function may run inside: it must not wait for itself
        self._lock = threading.RLock()
        self._ids = itertools.count(1)
        self._thread = ThreadTraces()
        self._options: dict[str, dict[str, float]] = {}
        self._callers: set[str] = set()
        self._looping: set[str] = set()
        self._running = True
        self._calls = self._follow_functions()
        self._hooks.surround(module, _DEFINE, self._calls)
        self._hooks.surround(module, _CREATE, self._create)
        self._hook_sessions(context)
        context.stopwatch.sees_traces = True

    def stop(self) -> None:
        """Removes the hooks."""
        if not self._running:
            return
        self._running = False
        self._context.stopwatch.sees_traces = False
        self._hooks.remove()
        self._executions.stop()

    def follow_calls(self, observe: CallObserver) -> None:
        """Each call of a function is shown to an observer.

        Args:
          observe: Is given the bit of the function, its `ConcreteFunction`, and its arguments,
            those without a name and those with one. It must not raise.
        """
        if self._running:
            self._calls.observers += (observe,)

    def leave_calls(self, observe: CallObserver) -> None:
        """No call is shown to it any more."""
        if self._running:
            self._calls.observers = tuple(each for each in self._calls.observers if each != observe)

    def _follow_functions(self) -> FunctionCalls:
        return FunctionCalls(
            self._context,
            self._thread,
            self._step_functions.bits,
            self._argument_sizes,
            learn=self._learn_function,
            finish=self._finish,
            leave=lambda trace: self._spans.close(trace.span),
        )

    def _hook_sessions(self, context: Context) -> None:
        from tensorflow.python.client import session

        work = NeedlessWork(self._emit, self._subjects.places)
        runs = SessionRuns(
            context.stopwatch,
            context.clock.thread_cpu_ns,
            self._step_functions.bit_of,
            SessionGraphs(self._emit).look,
            self._tell_fetches,
            self._place_of_caller,
            SessionRepeats(self._emit),
            SessionWork(work.look_at_run, context.steps_finished),
            context.clock.monotonic_ns,
        )
        with contextlib.suppress(Unavailable):
            self._hooks.surround(session.BaseSession, "run", runs.run)
            for name in ("_extend_graph", "_call_tf_sessionrun"):
                self._hooks.surround(session.BaseSession, name, runs.prepare)
            self._hooks.surround(session._FetchHandler, "__init__", runs.end_feeding)

    def _tell_fetches(self, frame: FrameType, sets: int) -> None:
        self._emit(Fact(FETCHED_AT, self._place_of_caller(frame), {"sets": float(sets)}))

    def _place_of_caller(self, frame: FrameType) -> str:
        return self._subjects.places.at(*calling_line(frame))

    def _learn_function(self, options: Any, function: Any) -> int:
        try:
            with self._lock:
                subject = self._subjects.identify(options, self._thread.previous)
                graph = getattr(function, "graph", None)
                bit = self._step_functions.learn(options, subject, variable_elements(graph))
                self._expect_arguments(bit, function)
                return bit
        except Exception as error:  # noqa: BLE001 - TensorFlow must go on
            self._report(error)
            return 0

    def _expect_arguments(self, bit: int, function: Any) -> None:
        if not bit or not hasattr(function, "graph"):
            return
        self._argument_sizes.expect_lengths(bit, function.structured_input_signature)
        name = argument_of_turns(function.graph)
        parameters = list(function.function_type.parameters) if name else []
        if name in parameters:
            self._argument_sizes.expect_turns(bit, name, parameters.index(name))

    def _create(
        self, function_type: Any, _: Any, func_graph: Any, tracing_options: Any
    ) -> Generator[None, Any, None]:
        thread = self._thread
        began_ns = thread.began_ns
        thread.began_ns = 0
        if not (self._running and began_ns):
            yield
            return
        trace = self._begin(began_ns, function_type, func_graph, tracing_options)
        before_ns = self._spans.so_far_ns(trace.span) if trace else 0
        yield
        if trace:
            # A collection in the lookup may be booked only now: then it stands in both.
            trace.building_ns = max(0, self._spans.so_far_ns(trace.span) - before_ns)

    def _begin(
        self, began_ns: int, function_type: Any, graph: Any, options: Any
    ) -> OpenTrace | None:
        """Opens a trace, None if that failed."""
        thread = self._thread
        try:
            around = thread.open[-1].reason if thread.open else None
            with self._lock:
                subject = self._subjects.identify(options, thread.previous)
                reason = self._functions.judge(subject, function_type, options, around)
            at_once = self._executing_eagerly() and not thread.open and not subject.is_tf_data
            span = self._spans.open(account(TRACING, reason.detail), began_ns)
        except Exception as error:  # noqa: BLE001 - TensorFlow must go on
            self._report(error)
            return None
        trace = OpenTrace(reason, span, len(thread.open), options, graph, at_once)
        thread.open.append(trace)
        return trace

    def _finish(self, trace: OpenTrace, function: Any) -> None:
        """Records a trace that has made `function`."""
        seconds = self._spans.close(trace.span) / 1e9
        try:
            number = next(self._ids)
            subject = trace.reason.subject
            with self._lock:
                count, signature = self._functions.add(trace.reason, trace.options)
                is_new = self._functions.add_model(subject, trained_variables(trace.graph))
            self._thread.previous = subject
            made = Trace(
                id=number,
                function=subject.function,
                location=subject.location,
                seconds=seconds,
                building_seconds=trace.building_ns / 1e9,
                cause=trace.reason.cause,
                count=count,
                operations=trace.graph.version,
                depth=trace.depth,
                changes=trace.reason.changes,
                elsewhere=not trace.span.mine,
                jit_compile=bool((trace.options.attributes or {}).get("_XlaMustCompile")),
                signature=signature,
                variable_elements=variable_elements(trace.graph),
                new_model=is_new,
            )
            self._context.emit(made)
            self._tell_options(subject, trace.options)
            self._tell_loop(subject, trace.graph)
            if trace.depth == 0 and made.cause in ("signature", "new_object"):
                self._tell_caller(subject, sys._getframe(1))
            for observe in self.observers:
                observe(function, made)
            if trace.runs_at_once:
                self._executions.watch(function, number, trace.reason.detail)
        except Exception as error:  # noqa: BLE001 - TensorFlow must go on
            self._report(error)

    def _tell_options(self, subject: Subject, options: Any) -> None:
        """Records once for each function what it has on already against retracing."""
        numbers = {
            "reduce_retracing": float(bool(getattr(options, "reduce_retracing", False))),
            "input_signature": float(_has_signature(options)),
        }
        key = key_of(subject)
        if any(numbers.values()) and self._options.get(key) != numbers:
            self._options[key] = numbers
            self._context.emit(Fact(FUNCTION_OPTIONS, key, numbers))

    def _tell_loop(self, subject: Subject, graph: Any) -> None:
        """Records once that a function of the program has as much work as its data say."""
        key = key_of(subject)
        if subject.is_library or key in self._looping or len(self._looping) >= _MOST_CALLERS:
            return
        if has_open_loop(graph):
            self._looping.add(key)
            self._context.emit(Fact(OPEN_LOOP, key))

    def _tell_caller(self, subject: Subject, frame: FrameType) -> None:
        """Records the first lines whose calls trace a function again."""
        file, line = calling_line(frame)
        if subject.is_library or not file or len(self._callers) >= _MOST_CALLERS:
            return
        called = f"{key_of(subject)} at {self._subjects.places.at(file, line)}"
        if called not in self._callers:
            self._callers.add(called)
            self._context.emit(Fact(CALLED_AT, called))

    def _emit(self, what: What) -> None:
        try:
            self._context.emit(what)
        except Exception as error:  # noqa: BLE001 - TensorFlow must go on
            self._report(error)

    def _report(self, error: Exception) -> None:
        self._context.failure_of(self.name)(error)


def key_of(subject: Subject) -> str:
    """A function and its place."""
    return f"{subject.function} ({subject.location})"


def _has_signature(options: Any) -> bool:
    """Whether the program gave the function an `input_signature`."""
    declared = getattr(options, "polymorphic_type", None)
    parameters = getattr(declared, "parameters", {}).values()
    return any(getattr(each, "type_constraint", None) is not None for each in parameters)


def _find_hooks() -> tuple[Any, Callable[[], bool]]:
    """TensorFlow's module with the two functions, and how to ask whether it runs eagerly now.

    Raises:
      Unavailable: They are not there, or take other arguments.
    """
    try:
        import tensorflow as tf
    except ImportError as error:
        raise Unavailable("TensorFlow is not installed") from error
    try:
        from tensorflow.python.eager.polymorphic_function import concrete_function
        from tensorflow.python.eager.polymorphic_function import tracing_compilation as module

        found = {
            name: list(inspect.signature(getattr(module, name)).parameters) for name in _PARAMETERS
        }
        flat = list(inspect.signature(concrete_function.ConcreteFunction._call_flat).parameters)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise Unavailable(
            f"TensorFlow {tf.__version__} has no tracing hooks that this version knows"
        ) from error
    if found != _PARAMETERS or flat != ["self", "tensor_inputs", "captured_inputs"]:
        raise Unavailable(f"the tracing hooks of TensorFlow {tf.__version__} take other arguments")
    return module, tf.executing_eagerly
