"""Growth of graphs: operations in the default graph, functions in the eager context.

Cost: 0.4 us a sample in the training thread; in the background at most 0.1% of
a core, whatever the number of functions (see `GraphSize.read`), and 0.5 ms where a default graph
has grown by a tenth.
"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import OPERATIONS_ADDED_AT
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.hooks import tensorflow_internals
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.records.types import Fact

_GROWN: Final = 1.1
"""Times as many operations as when their lines were looked at last."""

_NEWEST: Final = 10
"""Operations whose lines are looked at, of those that were added since."""

_PATIENCE = 1_000
"""Counting functions takes time in proportion to their number: after a count that took
t seconds there is none for 1,000 t."""


class GraphSize:
    """Samples `graph.version` (one more for each operation added) and counts functions.

    Where the graph goes on growing, the lines that add to it are told as facts.
    """

    name = "graph_size"

    def start(self, context: Context) -> None:
        """Keeps what it asks; nothing is hooked."""
        import tensorflow as tf

        self._now_ns = context.clock.monotonic_ns
        self._executing_eagerly = tf.executing_eagerly
        self._default_graph = tf.compat.v1.get_default_graph
        self._next_count_ns = 0
        self._emit = context.emit
        self._places = SourcePlaces.of_process()
        self._graph: Callable[[], Any] = lambda: None
        self._looked_at = 0
        """Operations that the graph had."""

    def read_in_thread(self) -> Mapping[str, float]:
        """Operations of the graph that the training thread builds and runs, outside eager mode.

        In eager mode nothing is added to the default graph, so nothing is told.
        """
        if self._executing_eagerly():
            return {}
        graph = self._default_graph()
        if self._graph() is not graph:
            self._graph, self._looked_at = weakref.ref(graph), 0
        return {"graph_operations": operations(graph)}

    def read(self) -> Mapping[str, float]:
        """Functions in the eager context, as often as the patience for it allows."""
        graph = self._graph()
        if graph is not None and operations(graph) >= _GROWN * self._looked_at:
            self._tell_lines(graph)
        began = self._now_ns()
        if began < self._next_count_ns:
            return {}
        count = tensorflow_internals.count_functions()
        ended = self._now_ns()
        self._next_count_ns = ended + _PATIENCE * (ended - began)
        return {} if count is None else {"eager_functions": count}

    def _tell_lines(self, graph: Any) -> None:
        """Of the newest operations, unless they are all that there are: those of the model."""
        added = graph.get_operations()
        before, self._looked_at = self._looked_at, len(added)
        if not before or len(added) == before:
            return
        newest = added[max(before, len(added) - _NEWEST) :]
        found = Counter(filter(None, (self._places.of_operation(each) for each in newest)))
        for place, number in found.most_common(1):
            numbers = {"operations": number, "of": len(newest)}
            self._emit(Fact(OPERATIONS_ADDED_AT, place, numbers))

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
