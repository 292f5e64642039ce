"""Growth of graphs: operations in the default graph, functions in the eager context.

Cost: 0.4 us a sample in the training thread; in the background at most 0.1% of
a core, whatever the number of functions (see `GraphSize.read`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks import tensorflow_internals

_PATIENCE = 1_000
"""Counting functions takes time in proportion to their number: after a count that took
t seconds there is none for 1,000 t."""


class GraphSize:
    """Samples `graph.version` (one more for each operation added) and counts functions."""

    name = "graph_size"

    def start(self, context: Context) -> None:
        """Keeps what it asks; nothing is hooked."""
        import tensorflow as tf

        self._now_ns = context.clock.monotonic_ns
        self._executing_eagerly = tf.executing_eagerly
        self._default_graph = tf.compat.v1.get_default_graph
        self._next_count_ns = 0

    def read_in_thread(self) -> Mapping[str, float]:
        """Operations of the graph that the training thread builds and runs, outside eager mode.

        In eager mode nothing is added to the default graph, so nothing is told.
        """
        if self._executing_eagerly():
            return {}
        return {"graph_operations": operations(self._default_graph())}

    def read(self) -> Mapping[str, float]:
        """Functions in the eager context, as often as the patience for it allows."""
        began = self._now_ns()
        if began < self._next_count_ns:
            return {}
        count = tensorflow_internals.count_functions()
        ended = self._now_ns()
        self._next_count_ns = ended + _PATIENCE * (ended - began)
        return {} if count is None else {"eager_functions": count}

    def stop(self) -> None:
        """Nothing is hooked."""


def operations(graph: Any) -> int:
    """Operations ever added to a `tf.Graph`: 0.1 us, where listing them takes 50 us."""
    return int(graph.version)


def trained_variables(graph: Any) -> list[Any]:
    """The trainable variables that a function's graph uses; none where they are not known."""
    try:
        return list(graph.trainable_variables)
    except (AssertionError, AttributeError):  # one is gone
        return []


def variable_elements(graph: Any) -> int:
    """Numbers in the variables that a function's graph uses; 0 where they are not known."""
    try:
        return sum(variable.shape.num_elements() or 0 for variable in graph.variables)
    except (AssertionError, AttributeError, ValueError):  # one is gone, or has no shape yet
        return 0
