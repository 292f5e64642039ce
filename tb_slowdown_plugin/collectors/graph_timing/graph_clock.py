"""Clocks and sums inside TensorFlow graphs, where no Python runs.

While a function is traced, `timestamp` puts a reading of the clock into its
graph, and `GraphSums` adds what was found to a resource on the CPU, which
Python reads. TensorFlow runs stateful operations in the order in which they
were written; all of these are exempt from that, else they would hold up what
now runs at the same time. What needs TensorFlow's private names for it is in
this file: `experimental_acd_manager` of a graph and `read_variable_op`
(2.16 to 2.21).

Cost: 1 us an operation that runs right after the one before it, 25 us where it is handed to
another thread (see `held_until`); a reading of one sum takes 12 us in an idle loop and
50 us between training steps, whose data fill the caches (docs/overhead.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tb_slowdown_plugin.collectors.hooks.tensorflow_internals import (
    is_saving,
)


class GraphSums:
    """Sums that graphs of this process add to: functions that are traced once keep adding.

    Args:
      name: Of the resource; nobody else may use it.
      size: How many sums it holds. Each is a resource of its own, made when a graph first
        adds to it: one place of a vector would take one more operation at each addition.
    """

    def __init__(self, name: str, size: int) -> None:
        self._name = name
        self._size = size
        self._resources: dict[int, Any] = {}

    @property
    def is_in_use(self) -> bool:
        """Whether any graph has been made to add to it."""
        return bool(self._resources)

    def add(self, graph: Any, values: Sequence[Any], place: int = 0) -> list[Any]:
        """Has the graph add scalars to the sums from `place` on.

        Args:
          graph: The one being traced.
          values: float64 tensors, or numbers.
          place: Of the first of these sums.

        Returns:
          The operations that add.
        """
        import tensorflow as tf

        additions = []
        for index, value in enumerate(values, place):
            if index not in self._resources:
                self._resources[index] = self._create(index)
            with graph.as_default(), tf.device("CPU:0"):
                addition = tf.raw_ops.AssignAddVariableOp(
                    resource=self._resources[index], value=tf.convert_to_tensor(value, tf.float64)
                )
            run_independently(graph, addition)
            additions.append(addition)
        return additions

    def read(self) -> tuple[float, ...]:
        """The sums now, 0 before any graph adds. Only in a thread that executes eagerly."""
        import tensorflow as tf
        from tensorflow.python.ops import gen_resource_variable_ops as resources

        sums = [0.0] * self._size
        for index, resource in self._resources.copy().items():
            sums[index] = float(resources.read_variable_op(resource, tf.float64).numpy())
        return tuple(sums)

    def _create(self, index: int) -> Any:
        import tensorflow as tf

        # Raw operations, so that no strategy, model or variable scope takes it for its own.
        with tf.init_scope(), tf.device("CPU:0"):
            resource = tf.raw_ops.VarHandleOp(
                dtype=tf.float64, shape=[], shared_name=f"{self._name}/{index}"
            )
            tf.raw_ops.AssignVariableOp(resource=resource, value=tf.zeros([], tf.float64))
        return resource


def timestamp(graph: Any, after: Sequence[Any]) -> Any:
    """A float64 tensor: Unix seconds at which the operations `after` had all run."""
    import tensorflow as tf

    with graph.as_default(), tf.device("CPU:0"), tf.control_dependencies(list(after)):
        now = tf.timestamp()
    run_independently(graph, now.op)
    return now


def held_until(operations: Sequence[Any], graph: Any, nested: Any) -> Any:
    """The same (nested) tensors, for whose consumers the operations have run.

    What becomes ready beside a consumer is handed to another thread, which costs more
    than all of these operations (25 us as measured in 2.21 with the default threads), or,
    where there is one thread, waits for it. What holds other things than tensors is
    given back as it is.
    """
    import tensorflow as tf

    tensors = tf.nest.flatten(nested)
    if not tensors or not all(isinstance(tensor, tf.Tensor) for tensor in tensors):
        return nested
    with (
        graph.as_default(),
        graph.colocate_with(tensors[0].op),
        tf.control_dependencies(list(operations)),
    ):
        return tf.nest.pack_sequence_as(nested, list(tf.raw_ops.IdentityN(input=tensors)))


def operations_of(nested: Any) -> list[Any]:
    """The operations that make the tensors in a nest."""
    import tensorflow as tf

    variant = getattr(nested, "_variant_tensor", None)  # an Optional has no components
    if variant is not None:
        return [variant.op]
    flat = tf.nest.flatten(nested, expand_composites=True)
    return [tensor.op for tensor in flat if isinstance(tensor, tf.Tensor)]


def run_independently(graph: Any, operation: Any) -> None:
    """Exempts a stateful operation from running after the ones written before it."""
    order = graph.experimental_acd_manager
    if order is not None:
        order.run_independently(operation)


def is_clock_refused() -> bool:
    """Whether TensorFlow is told to compute the same each time, and so refuses `Timestamp`."""
    from tensorflow.python.framework import config

    is_enabled: Callable[[], bool] = getattr(config, "is_op_determinism_enabled", lambda: False)
    return is_enabled()


def can_time_here(*, jitted: bool = False) -> bool:
    """Whether the graph being traced is called eagerly, runs in this process and not under XLA.

    Sessions can't reach the sums, the workers of a parameter server strategy and TPUs run the
    graph elsewhere, and XLA has no clock. What is traced in order to be saved will run in
    other processes, and could not be saved with one of our resources in it. Under op
    determinism TensorFlow's clock is an operation that fails.

    Args:
      jitted: A jitted function is being called: TensorFlow has marked the calling graph
        as one under XLA for as long as that takes.
    """
    import tensorflow as tf

    with tf.init_scope():
        if not tf.executing_eagerly():
            return False
    if is_saving() or is_clock_refused():
        return False
    if _is_under_xla(tf.compat.v1.get_default_graph(), marks=1 if jitted else 0):
        return False
    strategy = type(tf.distribute.get_strategy()).__name__
    return not any(elsewhere in strategy for elsewhere in ("ParameterServer", "TPU"))


def _is_under_xla(graph: Any, marks: int) -> bool:
    """Whether a graph, or one around it, is marked more often than `marks` times."""
    while graph is not None:
        context = graph._get_control_flow_context()
        while context is not None:
            if context.IsXLAContext():
                marks -= 1
            if marks < 0:
                return True
            context = context.outer_context
        graph = getattr(graph, "outer_graph", None)
    return False
