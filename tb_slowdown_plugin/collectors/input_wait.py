"""Waiting for the next batch of a tf.data pipeline, wherever the program fetches it.

Cost: 0.3 us a fetch in Python; a fetch inside a graph costs five small
operations, and 8 us for reading their sum, at most once in 2 ms.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, TypeVar

from tb_slowdown_plugin.collectors import graph_wait
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.records import names

T = TypeVar("T")

_READING_INTERVAL_NS: Final = 2_000_000
"""A reading takes 8 us (2.21, measured): at most 0.4 % of the training thread. Where steps
are shorter, the wait is told to the steps right after the one that had it."""
_GRAPH_METHODS: Final = ("_next_internal", "get_next_as_optional")


class InputWait:
    """Books the seconds of `tf.data` iterators to the account `input_wait`.

    Three ways lead to a batch, and all end in `OwnedIterator`: a Python loop
    over a dataset, `iterator.get_next()` inside a `tf.function` (so does Keras),
    and loops inside graphs (AutoGraph, `steps_per_execution`). The first is
    timed as it is called. For the others the graph itself is made to add up
    (see `graph_wait`), which needs the collector to run before the function is
    traced; what was traced earlier is not measured. Waiting inside validation
    is validation: it has its own data, and says nothing about a training step.
    """

    name = "input_wait"

    def start(self, context: Context) -> None:
        """Replaces the methods of TensorFlow's iterator that fetch.

        Raises:
          Unavailable: This TensorFlow's iterator has other methods.
        """
        from tensorflow.python.data.ops import iterator_ops
        from tensorflow.python.eager import context as eager

        self._iterator_class: Any = getattr(iterator_ops, "OwnedIterator", None)
        missing = [
            name
            for name in _GRAPH_METHODS
            if name not in getattr(self._iterator_class, "__dict__", ())
        ]
        if missing:
            raise Unavailable(f"this TensorFlow's OwnedIterator has no {', '.join(missing)}")
        self._context = context
        self._executing_eagerly = eager.executing_eagerly
        self._now_ns = context.clock.monotonic_ns
        self._owed_ns = 0
        self._originals = {name: getattr(self._iterator_class, name) for name in _GRAPH_METHODS}
        for name, original in self._originals.items():
            setattr(self._iterator_class, name, self._timed(original))
        if graph_wait.is_in_use():
            self._begin_reading()

    def stop(self) -> None:
        """Puts TensorFlow's own methods back; functions traced so far keep their timestamps."""
        for name, original in self._originals.items():
            setattr(self._iterator_class, name, original)
        if self._settle in self._context.stopwatch.askers:
            self._context.stopwatch.askers.remove(self._settle)

    def _timed(self, original: Callable[..., T]) -> Callable[..., T]:
        # `wraps` keeps the module name, by which AutoGraph knows what not to convert.
        @functools.wraps(original)
        def fetch(iterator: Any, *args: Any, **kwargs: Any) -> T:
            if self._executing_eagerly():
                return self._fetch(original, iterator, *args, **kwargs)
            return self._build(lambda: original(iterator, *args, **kwargs))

        return fetch

    def _fetch(self, original: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        watch = self._context.stopwatch
        if not watch.is_mine() or watch.is_open(names.VALIDATION):
            return original(*args, **kwargs)
        watch.open(names.INPUT_WAIT)
        try:
            return original(*args, **kwargs)
        finally:
            watch.close()

    def _build(self, fetch: Callable[[], T]) -> T:
        timed = self._guard(self._begin_timing)
        if timed is None:
            return fetch()
        with timed.after_asking():
            fetched = fetch()
        self._guard(lambda: timed.end(fetched))
        return fetched

    def _begin_timing(self) -> graph_wait.TimedFetch | None:
        if not graph_wait.can_time_fetches():
            return None
        if self._settle not in self._context.stopwatch.askers:
            self._begin_reading()
        return graph_wait.TimedFetch()

    def _guard(self, build: Callable[[], T]) -> T | None:
        try:
            return build()
        except Exception as error:  # noqa: BLE001 - the user's function must be traced all the same
            self._tell("a fetch can't be timed in a graph", error)
            return None

    def _begin_reading(self) -> None:
        import tensorflow as tf

        with tf.init_scope():
            self._before = graph_wait.read_waited()
        self._read_ns = self._asked_ns = self._now_ns()
        self._context.stopwatch.askers.append(self._settle)

    def _settle(self) -> None:
        """Books what the graphs have waited since the last time."""
        now = self._now_ns()
        if now - self._read_ns >= _READING_INTERVAL_NS and self._executing_eagerly():
            self._owed_ns = self._read(now)
        if self._context.stopwatch.is_open(names.VALIDATION):
            self._owed_ns = 0
        if self._owed_ns:
            passed = now - self._asked_ns
            self._owed_ns -= self._context.stopwatch.book(
                names.INPUT_WAIT, min(self._owed_ns, passed)
            )
        self._asked_ns = now

    def _read(self, now: int) -> int:
        wall_ns = now - self._read_ns
        self._read_ns = now
        try:
            total = graph_wait.read_waited()
        except Exception as error:  # noqa: BLE001 - a reset context must not reach the training loop
            self._context.stopwatch.askers.remove(self._settle)
            self._tell("the wait in graphs can't be read", error)
            return 0
        waited = total - self._before
        self._before = total
        return min(wall_ns, max(0, int(waited.lost_seconds() * 1e9)))

    def _tell(self, what: str, error: Exception) -> None:
        # Only the kind of error: TensorFlow's texts hold paths of the user's.
        self._context.report_failure(self.name, f"{what}: {type(error).__name__}")
