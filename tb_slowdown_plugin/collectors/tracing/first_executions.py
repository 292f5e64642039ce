"""Times the first runs of a graph that was just traced.

The first run of a graph optimises it, places it and sets its kernels up;
under XLA it compiles. The fastest of the later ones is what a steady run costs: the second
of a process's first small graph took 1.7 ms, the later ones 0.1 ms. Four are recorded one by one,
and of the 28 after them the fastest: a `fit` whose graph takes 0.39 to 0.49 ms (the median of
8,000) took 0.63 in the fastest of the first four, and 0.37 to 0.45 in that of the next 28
(TensorFlow 2.21, two cores, 2026-11-30). They are timed by an attribute of the one
`ConcreteFunction` that stands before the method `_call_flat`, through which every run goes; after
the last of them it is gone, and the function is as if nobody had looked.

Read in TensorFlow 2.16 and 2.21: eager/polymorphic_function/
tracing_compilation.py `call_function`, polymorphic_function.py `_call`,
concrete_function.py `_call_flat`.
"""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable
from typing import Any

from tb_slowdown_plugin.catalog.names import FIRST_EXECUTION, account
from tb_slowdown_plugin.collectors.tracing.spans import Spans
from tb_slowdown_plugin.records.types import FIRST_RUNS, Execution

_METHOD = "_call_flat"

_TIMED_RUNS = 32
"""The last of them: caches are warm, processors awake."""


class FirstExecutions:
    """Watches graphs until each has run 32 times."""

    def __init__(
        self,
        spans: Spans,
        record: Callable[[Execution], None],
        executing_eagerly: Callable[[], bool],
    ) -> None:
        self._spans = spans
        self._record = record
        self._executing_eagerly = executing_eagerly
        self._watched: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.steady_ns: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        """What the fastest of the first runs after the very first took, of each graph."""

    def watch(self, function: Any, trace: int, detail: str) -> None:
        """Times the next eager runs of `function`, which trace number `trace` has made."""
        runs = itertools.count(1)
        fastest_ns = sys.maxsize
        # a strong reference would be a cycle, and keep graphs alive until a collection
        reference = weakref.ref(function)
        call_flat = type(function)._call_flat
        if (inner := vars(function).get(_METHOD)) is not None:  # another collector's

            def call_flat(_: Any, *inputs: Any) -> Any:
                return inner(*inputs)

        def run(tensor_inputs: Any, captured_inputs: Any) -> Any:
            nonlocal fastest_ns
            function = reference()
            if not self._executing_eagerly() or (nth := next(runs)) > _TIMED_RUNS:
                return call_flat(function, tensor_inputs, captured_inputs)
            if nth == _TIMED_RUNS:
                self._leave(function, trace)
            span = self._spans.open(account(FIRST_EXECUTION, detail) if nth == 1 else None)
            try:
                result = call_flat(function, tensor_inputs, captured_inputs)
            except BaseException as error:
                self._spans.close(span)
                error.__traceback__ = hide_frame(error)
                raise
            own_ns = self._spans.close(span)
            if nth > FIRST_RUNS:
                fastest_ns = min(own_ns, fastest_ns)
            elif nth > 1:
                self.steady_ns[function] = min(own_ns, self.steady_ns.get(function, own_ns))
            if nth <= FIRST_RUNS:
                self._record(Execution(trace, nth, own_ns / 1e9, elsewhere=not span.mine))
            elif nth == _TIMED_RUNS:
                self._record(Execution(trace, nth, fastest_ns / 1e9, elsewhere=not span.mine))
            return result

        run.__wrapped__ = inner  # type: ignore[attr-defined]
        setattr(function, _METHOD, run)
        self._watched[trace] = function

    def stop(self) -> None:
        """Gives every function its own method back."""
        for trace, function in list(self._watched.items()):
            self._leave(function, trace)

    def _leave(self, function: Any, trace: int) -> None:
        if self._watched.pop(trace, None) is None:
            return
        run = vars(function).pop(_METHOD, None)
        if (inner := getattr(run, "__wrapped__", None)) is not None:
            setattr(function, _METHOD, inner)


def hide_frame(error: BaseException) -> Any:
    """The traceback without the frame that caught it: the user should read their own.

    Python 3.10 shows the frame all the same.
    """
    caught = error.__traceback__
    return None if caught is None else caught.tb_next
