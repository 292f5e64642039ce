"""Python functions that a graph calls, by `tf.numpy_function` or `tf.py_function`: their seconds.

Such as a metric in NumPy inside of the step: TensorFlow calls it from a thread of its own, while
the training thread waits for the graph. Those of input pipelines are the pipeline's.

Cost: 1.6 us a call, 0.5 for those of pipelines, and 6 us for each function when it is traced.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import GRAPH_PYTHON
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import (
    SourcePlaces,
    code_of,
    line_of_definition,
)
from tb_slowdown_plugin.records.types import Fact

_OF_PIPELINES: Final = "tensorflow.python.data."
_MOST_TRACED: Final = 1_000
"""Functions are registered for each graph that calls them: a program that traces in each step has
ever more."""
_FIRST_CALLS: Final = 8
"""From which on a function is told, and each time that it has been called twice as often."""


@dataclass(slots=True)
class _Called:
    code: CodeType
    calls: int = 0
    taken_ns: int = 0
    told: int = 0
    """Calls when it was told last."""


class GraphPython:
    """Times the functions of the program that graphs call, other than those of tf.data."""

    name = "graph_python"

    def __init__(self, monotonic_ns: Callable[[], int] = time.perf_counter_ns) -> None:
        self._now_ns = monotonic_ns

    def start(self, context: Context) -> None:
        """Hooks where TensorFlow registers such functions, and where it calls them.

        Raises:
          Unavailable: This TensorFlow keeps them elsewhere.
        """
        from tensorflow.python.eager import context as eager
        from tensorflow.python.ops import script_ops

        self._emit = context.emit
        self._runs_eagerly = eager.executing_eagerly
        self._places = SourcePlaces.of_process()
        self._functions: dict[CodeType, _Called] = {}
        self._called: dict[Any, _Called] = {}
        """By token, of which a function has one for each graph."""
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.surround(script_ops.FuncRegistry, "insert", self._inserted)
        self._hooks.surround(script_ops.FuncRegistry, "__call__", self._timed)

    def read(self) -> Mapping[str, float]:
        """No values: what functions take is told as facts."""
        for each in list(self._functions.values()):
            if each.calls >= max(_FIRST_CALLS, 2 * each.told):
                self._tell(each)
        return {}

    def stop(self) -> None:
        """Removes the hooks, and tells what was called since."""
        self._hooks.remove()
        for each in self._functions.values():
            if each.calls >= _FIRST_CALLS and each.calls > each.told:
                self._tell(each)

    def _tell(self, called: _Called) -> None:
        calls, seconds = called.calls, called.taken_ns / 1e9
        called.told = calls
        place = self._places.in_code(called.code, line_of_definition(called.code))
        self._emit(Fact(GRAPH_PYTHON, place, {"calls": float(calls), "seconds": seconds}))

    def _inserted(self, _: Any, function: Any) -> Generator[None, Any, None]:
        token = yield
        if self._runs_eagerly() or len(self._called) >= _MOST_TRACED or _is_of_pipeline():
            return
        code = code_of(getattr(function, "_func", function))
        if code is not None and not is_installed(code.co_filename):
            self._called[token] = self._functions.setdefault(code, _Called(code))

    def _timed(self, _: Any, token: Any, *__: Any) -> Generator[None, Any, None]:
        called = self._called.get(token)
        if called is None:
            yield
            return
        began_ns = self._now_ns()
        yield
        called.taken_ns += self._now_ns() - began_ns
        called.calls += 1


def _is_of_pipeline() -> bool:
    """Whether a function is registered for tf.data."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(_OF_PIPELINES):
            return True
        frame = frame.f_back
    return False
