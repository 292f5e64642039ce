"""Sums, inside TensorFlow graphs, how long they wait for the next batch.

`model.fit` and many custom loops fetch their batches inside a `tf.function`,
where no Python runs. So while such a function is traced, two `tf.timestamp`
operations are put around the fetch, and their difference is added up, see
`graph_clock`.

Cost: five small operations a fetch, nine inside `steps_per_execution`: 5 to 10 us of CPU
time as measured in 2.21 with one thread and with the default threads. What consumes the
batch comes after them, see `held_until`: it cost 25 us more where it did not.
"""

from __future__ import annotations

import weakref
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, cast

from tb_slowdown_plugin.collectors.graph_timing.graph_clock import (
    GraphSums,
    held_until,
    operations_of,
    timestamp,
)

_SUMS: Final = GraphSums("tb_slowdown_plugin_input_wait", 3)
_WAITED, _FETCHED, _COMPUTED = range(3)
"""Places in the sums, in the order of the fields of `Waited`."""


@dataclass(frozen=True, slots=True)
class Waited:
    """What all graphs have waited since the process began; `-` gives the difference."""

    seconds: float
    """In fetches that nothing else ran beside."""
    fetched_seconds: float = 0.0
    computed_seconds: float = 0.0
    """For fetches that run beside the computation of the batch before: when they, and when
    the computation had ended, summed up. Both count from the same moments."""

    def __sub__(self, before: Waited) -> Waited:
        return Waited(
            self.seconds - before.seconds,
            self.fetched_seconds - before.fetched_seconds,
            self.computed_seconds - before.computed_seconds,
        )

    def lost_seconds(self) -> float:
        """The seconds in which nothing but a fetch went on.

        Example:
          >>> Waited(0.5, fetched_seconds=3.0, computed_seconds=1.0).lost_seconds()
          2.5
          >>> Waited(0.5, fetched_seconds=1.0, computed_seconds=3.0).lost_seconds()
          0.5
        """
        return self.seconds + max(0.0, self.fetched_seconds - self.computed_seconds)


def read_waited() -> Waited:
    """The sums now. Only where eager execution is on, in the calling thread."""
    return Waited(*_SUMS.read())


def is_in_use() -> bool:
    """Whether any graph has been made to add up its waiting."""
    return _SUMS.is_in_use


class TimedFetch:
    """The operations around one fetch in the graph being traced.

    Make one, build the fetch inside `with after_asking()`, and call `end` with
    what was fetched.
    """

    def __init__(self) -> None:
        import tensorflow as tf

        self._graph = tf.compat.v1.get_default_graph()
        self._earlier = _fetches.get(self._graph)
        self._asked = timestamp(self._graph, [])

    def after_asking(self) -> AbstractContextManager[None]:
        """Operations made inside run after the first timestamp."""
        import tensorflow as tf

        return cast("AbstractContextManager[None]", tf.control_dependencies([self._asked]))

    def end(self, fetched: Any) -> Any:
        """Adds the second timestamp, after the (nested) tensors fetched, and the sum.

        Returns:
          What to go on with instead of `fetched`.
        """
        import tensorflow as tf

        graph = self._graph
        arrived = timestamp(graph, operations_of(fetched))
        body = _loop_around(graph)
        if body is not None:
            began = timestamp(body, [])
            computed = timestamp(body, _stateful_operations(body, 0))
            _add(body, _COMPUTED, began, computed)
            held = held_until(_add(graph, _FETCHED, began, arrived), graph, fetched)
        elif self._earlier:
            # This fetch may have run beside the earlier one (another replica's), and
            # beside what was computed since then: only the rest is waiting.
            ready = tf.maximum(self._asked, self._earlier.arrived)
            between = _stateful_operations(graph, self._earlier.operations)
            if between:
                ready = tf.maximum(ready, timestamp(graph, between))
            _add(graph, _WAITED, ready, tf.maximum(arrived, ready))
            held = fetched  # the sum is known late: nothing may wait for it
        else:
            held = held_until(_add(graph, _WAITED, self._asked, arrived), graph, fetched)
        _fetches[graph] = _Fetch(arrived, len(graph.get_operations()))
        return held


@dataclass(frozen=True, slots=True)
class _Fetch:
    arrived: Any
    """Its second timestamp."""
    operations: int
    """How many operations the graph had then."""


_fetches: weakref.WeakKeyDictionary[Any, _Fetch] = weakref.WeakKeyDictionary()
"""The last fetch in each graph being traced."""


def _add(graph: Any, place: int, began: Any, ended: Any) -> list[Any]:
    import tensorflow as tf

    with graph.as_default(), tf.device("CPU:0"):
        seconds = ended - began
    return _SUMS.add(graph, [seconds], place)


def _stateful_operations(graph: Any, since: int) -> list[Any]:
    """What the graph computes: its operations with effects, without fetches and readings."""
    return [
        operation
        for operation in graph.get_operations()[since:]
        if operation.op_def.is_stateful
        and not operation.type.startswith(("Iterator", "Timestamp", "ReadVariable"))
        and operation.type != "Placeholder"
    ]


def _loop_around(graph: Any) -> Any:
    """The loop body in whose branch a fetch stands, beside the computation; else None.

    So Keras writes `steps_per_execution`: `cond(more, fetch, ...)` after the
    step. Fetches at the head of a loop body wait alone, as AutoGraph makes them.
    """
    body = getattr(graph, "outer_graph", None)
    is_branch = type(graph).__name__ == "CondBranchFuncGraph"
    return body if is_branch and type(body).__name__ == "WhileBodyFuncGraph" else None
