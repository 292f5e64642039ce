"""Sums, inside TensorFlow graphs, how long they wait for the next batch.

`model.fit` and many custom loops fetch their batches inside a `tf.function`,
where no Python runs. So while such a function is traced, two `tf.timestamp`
operations are put around the fetch, and their difference is added to a
resource on the CPU that Python reads. All that needs TensorFlow's private
names to do so is in this file.

Cost: five small operations a fetch (seven inside `steps_per_execution`); 8 us a reading.
"""

from __future__ import annotations

import functools
import weakref
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Final, cast

_RESOURCE: Final = "tb_slowdown_plugin_input_wait"
_WAITED, _FETCHED, _COMPUTED = range(3)
"""Places in the resource, in the order of the fields of `Waited`."""


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
    import tensorflow as tf
    from tensorflow.python.ops import gen_resource_variable_ops as resources

    return Waited(*resources.read_variable_op(_sums(), tf.float64).numpy().tolist())


def is_in_use() -> bool:
    """Whether any graph has been made to add up its waiting."""
    return bool(_sums.cache_info().currsize)


class TimedFetch:
    """The operations around one fetch in the graph being traced.

    Make one, build the fetch inside `with after_asking()`, and call `end` with
    what was fetched. TensorFlow runs stateful operations in the order in which
    they were written; all of these are exempt from that, else they would hold
    up what now runs at the same time.
    """

    def __init__(self) -> None:
        import tensorflow as tf

        self._graph = tf.compat.v1.get_default_graph()
        self._earlier = _fetches.get(self._graph)
        self._asked = _timestamp(self._graph, [])

    def after_asking(self) -> AbstractContextManager[None]:
        """Operations made inside run after the first timestamp."""
        import tensorflow as tf

        return cast("AbstractContextManager[None]", tf.control_dependencies([self._asked]))

    def end(self, fetched: Any) -> None:
        """Adds the second timestamp, after the (nested) tensors fetched, and the sum."""
        import tensorflow as tf

        graph = self._graph
        arrived = _timestamp(graph, _operations_of(fetched))
        body = _loop_around(graph)
        if body is not None:
            began = _timestamp(body, [])
            computed = _timestamp(body, _stateful_operations(body, 0))
            _add(body, _COMPUTED, began, computed)
            _add(graph, _FETCHED, began, arrived)
        elif self._earlier:
            # This fetch may have run beside the earlier one (another replica's), and
            # beside what was computed since then: only the rest is waiting.
            ready = tf.maximum(self._asked, self._earlier.arrived)
            between = _stateful_operations(graph, self._earlier.operations)
            if between:
                ready = tf.maximum(ready, _timestamp(graph, between))
            _add(graph, _WAITED, ready, tf.maximum(arrived, ready))
        else:
            _add(graph, _WAITED, self._asked, arrived)
        _fetches[graph] = _Fetch(arrived, len(graph.get_operations()))


def can_time_fetches() -> bool:
    """Whether the graph being traced is called eagerly and runs in this process.

    Sessions can't reach the resource, and the workers of a parameter server strategy and TPUs run
    the graph elsewhere.
    """
    import tensorflow as tf

    with tf.init_scope():
        if not tf.executing_eagerly():
            return False
    strategy = type(tf.distribute.get_strategy()).__name__
    return not any(elsewhere in strategy for elsewhere in ("ParameterServer", "TPU"))


@dataclass(frozen=True, slots=True)
class _Fetch:
    arrived: Any
    """Its second timestamp."""
    operations: int
    """How many operations the graph had then."""


_fetches: weakref.WeakKeyDictionary[Any, _Fetch] = weakref.WeakKeyDictionary()
"""The last fetch in each graph being traced."""


@functools.cache
def _sums() -> Any:
    """One resource a process: functions that are traced once keep adding to it."""
    import tensorflow as tf

    # Raw operations, so that no strategy, model or variable scope takes it for its own.
    with tf.init_scope(), tf.device("CPU:0"):
        resource = tf.raw_ops.VarHandleOp(dtype=tf.float64, shape=[3], shared_name=_RESOURCE)
        tf.raw_ops.AssignVariableOp(resource=resource, value=tf.zeros([3], tf.float64))
    return resource


def _timestamp(graph: Any, after: list[Any]) -> Any:
    import tensorflow as tf

    with graph.as_default(), tf.device("CPU:0"), tf.control_dependencies(after):
        now = tf.timestamp()
    _run_independently(graph, now.op)
    return now


def _add(graph: Any, place: int, began: Any, ended: Any) -> None:
    import tensorflow as tf

    with graph.as_default(), tf.device("CPU:0"):
        seconds: list[Any] = [0.0, 0.0, 0.0]
        seconds[place] = ended - began
        addition = tf.raw_ops.AssignAddVariableOp(resource=_sums(), value=tf.stack(seconds))
    _run_independently(graph, addition)


def _run_independently(graph: Any, operation: Any) -> None:
    order = graph.experimental_acd_manager
    if order is not None:
        order.run_independently(operation)


def _operations_of(fetched: Any) -> list[Any]:
    import tensorflow as tf

    variant = getattr(fetched, "_variant_tensor", None)  # an Optional has no components
    if variant is not None:
        return [variant.op]
    flat = tf.nest.flatten(fetched, expand_composites=True)
    return [tensor.op for tensor in flat if isinstance(tensor, tf.Tensor)]


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
