"""Follows each call of a `tf.function`: which functions a step runs, and whether one is traced.

Cost: two calls and a clock for each call of a function (docs/overhead.md).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import get_ident
from typing import Any, TypeAlias

from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surrounding
from tb_slowdown_plugin.collectors.tracing.argument_sizes import ArgumentSizes
from tb_slowdown_plugin.collectors.tracing.functions import TraceReason
from tb_slowdown_plugin.collectors.tracing.spans import Span
from tb_slowdown_plugin.collectors.tracing.subjects import Subject

CallObserver: TypeAlias = Callable[[int, Any, Any, Any], None]


@dataclass(slots=True)
class OpenTrace:
    """A trace under way."""

    reason: TraceReason
    span: Span
    depth: int
    options: Any
    graph: Any
    runs_at_once: bool
    """Whether it was asked for outside of any graph, so that the function will run eagerly."""
    building_ns: int = 0


class ThreadTraces(threading.local):
    """What one thread is tracing."""

    def __init__(self) -> None:
        self.began_ns = 0
        """When the lookup under way began, 0 outside of one."""
        self.open: list[OpenTrace] = []
        self.previous: Subject | None = None


class FunctionCalls(Surrounding):
    """Follows the calls of all functions: which of them a step runs, and whether they are traced.

    Args:
      context: Has the clock, and the stopwatch that counts.
      thread: What is traced in each thread.
      bits: Of each function that is known, by the `id` of its options.
      sizes: Reads those of arguments.
      learn: Gives the bit of a function that isn't known.
      finish: Is called with a trace and what it has made.
      leave: Is called with a trace that has raised.
    """

    __slots__ = (
        "_bits",
        "_finish",
        "_learn",
        "_leave",
        "_now",
        "_sizes",
        "_thread",
        "_watch",
        "observers",
    )

    def __init__(
        self,
        context: Context,
        thread: ThreadTraces,
        bits: Mapping[int, int],
        sizes: ArgumentSizes,
        learn: Callable[[Any, Any], int],
        finish: Callable[[OpenTrace, Any], None],
        leave: Callable[[OpenTrace], object],
    ) -> None:
        self._now = context.clock.monotonic_ns
        self._watch = context.stopwatch
        self._thread = thread
        self._bits = bits
        self._sizes = sizes
        self._learn = learn
        self._finish = finish
        self._leave = leave
        self.observers: tuple[CallObserver, ...] = ()
        """Are called with the bit of a function, its `ConcreteFunction`, and its arguments."""

    def begin(self, args: Any, kwargs: Any, tracing_options: Any) -> tuple[int, Any, Any, Any]:
        """Notes when a lookup begins, and how many traces are open around it."""
        thread = self._thread
        thread.began_ns = self._now()
        return len(thread.open), args, kwargs, tracing_options

    def end(self, begun: tuple[int, Any, Any, Any], result: Any) -> Any:
        """Ends the trace, if there was one, and counts the call."""
        depth, args, kwargs, options = begun
        thread = self._thread
        thread.began_ns = 0
        if len(thread.open) > depth:
            self._finish(thread.open.pop(), result)
        watch = self._watch
        if not depth and get_ident() == watch.thread:
            bit = self._bits.get(id(options))
            if bit is None:
                bit = self._learn(options, result)
            if bit:
                watch.ran |= bit
                watch.calls += 1
                watch.argument_size += self._sizes.read(bit, args, kwargs)
                for observe in self.observers:
                    observe(bit, result, args, kwargs)
        return result

    def fail(self, begun: tuple[int, Any, Any, Any], _: BaseException) -> None:
        """Leaves the trace, if there was one."""
        thread = self._thread
        thread.began_ns = 0
        if len(thread.open) > begun[0]:
            self._leave(thread.open.pop())
