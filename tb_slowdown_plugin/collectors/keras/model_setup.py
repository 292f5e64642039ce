"""Models loaded again in the loop, and calls of Keras's `clear_session`.

`clear_session` makes TensorFlow forget all kernels, so that each graph sets its own up again
when it runs next: that is the price of the call, too.

Cost: 10 us a call; 1 us a run of a graph in the two steps after a `clear_session`.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Generator
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.keras.user_calls import ANYTHING, UserCalls
from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector

_STEPS_AFTER: Final = 2
"""Steps in which graphs are looked at after a `clear_session`."""


class ModelSetup:
    """Books both in the training thread by the line that calls them.

    Args:
      traces: Knows what a usual run of each graph takes.
    """

    name = "model_setup"

    def __init__(self, traces: TraceCollector) -> None:
        self._traces = traces

    def start(self, context: Context) -> None:
        """Hooks Keras's functions.

        Raises:
          Unavailable: Keras has not been imported, so there are no models of its.
        """
        keras = find_keras()
        self._context = context
        self._watch = context.stopwatch
        self._calls = UserCalls(context)
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._runs = MethodHooks(self.name, context.failure_of(self.name))
        self._account = ""
        self._until_step = 0
        self._set_up: weakref.WeakSet[Any] = weakref.WeakSet()
        self._hooks.surround(keras.models, "load_model", self._loading)
        self._hooks.surround(keras.backend, "clear_session", self._clearing)

    def stop(self) -> None:
        """Puts Keras's and TensorFlow's functions back."""
        self._runs.remove()
        self._hooks.remove()

    def _loading(self, *_: Any, **__: Any) -> Generator[None, Any, None]:
        if not self._watch.is_mine():
            yield
            return
        call = self._calls.open("load_model", ANYTHING, sys._getframe(1))
        try:
            yield
        finally:
            self._calls.close(call)

    def _clearing(self, *_: Any, **__: Any) -> Generator[None, Any, None]:
        if not self._watch.is_mine():
            yield
            return
        call = self._calls.open(names.CLEAR_SESSION, ANYTHING, sys._getframe(1))
        try:
            yield
        finally:
            self._calls.close(call)
        self._account = call.owner.account
        self._set_up.clear()
        self._until_step = self._context.steps_finished() + _STEPS_AFTER
        if self._traces.is_running:
            from tensorflow.python.eager.polymorphic_function import concrete_function

            self._runs.surround(concrete_function.ConcreteFunction, "_call_flat", self._running)

    def _running(self, function: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        watch, steady = self._watch, self._traces.steady_ns
        is_first = function not in self._set_up
        if not watch.is_mine() or not is_first or names.FIRST_EXECUTION in _families(watch.opened):
            if self._context.steps_finished() > self._until_step:
                self._runs.remove()
            yield
            return
        now_ns = self._context.clock.monotonic_ns
        began_ns = now_ns()
        yield
        took_ns = now_ns() - began_ns
        self._set_up.add(function)
        usual_ns = steady.get(function, took_ns)
        steady[function] = min(usual_ns, took_ns)
        watch.book(self._account, took_ns - usual_ns)


def _families(opened: list[str]) -> set[str]:
    return {names.family(account) for account in opened}
