"""Calls of jitted functions inside other graphs: the graph notes what XLA compiles for.

Keras puts its jitted step into an outer `tf.function`, so no Python runs where
XLA compiles. While that outer function is traced, an operation is put into its
graph that writes the shapes of the call, and the values that XLA needs as
constants, to a resource on the CPU. Python reads it where the outer function
took long.

Cost: three small operations a call (one more for each further dtype), 15 us of wall
and 40 us of CPU time as measured in 2.21 on the CPU; 8 us a reading.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tb_slowdown_plugin.collectors.graph_timing.graph_clock import can_time_here, run_independently

_LONGEST: Final = 64
"""Numbers in a value that is noted: shapes, places and paddings have a few."""


@dataclass(frozen=True, slots=True)
class NotedCall:
    """A call whose shapes and values a graph notes."""

    subject: str
    """The jitted function."""
    resource: Any
    adds_up: bool
    """In a loop the notes of all its calls are added up, elsewhere the last are kept."""
    dimensions: int
    """So many of the numbers noted are of shapes; the others are values."""

    def split(self, noted: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The shapes and the values among the numbers noted."""
        return noted[: self.dimensions], noted[self.dimensions :]

    def read(self) -> tuple[int, ...]:
        """What is noted now. Only in a thread that executes eagerly."""
        import tensorflow as tf
        from tensorflow.python.ops import gen_resource_variable_ops as resources

        return tuple(resources.read_variable_op(self.resource, tf.int64).numpy().tolist())


class NotedCalls:
    """Puts notes into graphs being traced, and finds the ones of a graph."""

    def __init__(self) -> None:
        self._by_graph: weakref.WeakKeyDictionary[Any, NotedCall] = weakref.WeakKeyDictionary()

    def add(self, subject: str, inputs: Sequence[Any], needed: Sequence[Any]) -> bool:
        """Has the graph being traced note what XLA compiles for, if that may vary.

        Args:
          subject: The jitted function.
          inputs: Tensors whose shape it leaves open.
          needed: Tensors whose value XLA needs as a constant.

        Returns:
          Whether it does.

        TensorFlow traces a `tf.function` once more to save it, and that trace stays clean;
        but a `ConcreteFunction` is saved as it is, and can't be with one of our resources.
        Those are made of functions that serve, so only ones that train are changed: those
        that take a `tf.data` iterator.
        """
        import tensorflow as tf

        graphs = _function_around(tf.compat.v1.get_default_graph())
        needed = [each for each in needed if _is_short(each)]
        may_vary = needed or any(not each.shape.is_fully_defined() for each in inputs)
        ranks_known = all(each.shape.rank is not None for each in inputs)
        if not (may_vary and ranks_known and _takes_iterator(graphs[-1])):
            return False
        if not can_time_here(jitted=True):
            return False
        adds_up = any(type(graph).__name__ == "WhileBodyFuncGraph" for graph in graphs)
        dimensions = sum(each.shape.rank for each in inputs)
        count = dimensions + sum(each.shape.num_elements() for each in needed)
        resource = _create(f"{subject}/{count}/{adds_up}", count)
        call = NotedCall(subject, resource, adds_up, dimensions)
        operation = "AssignAddVariableOp" if adds_up else "AssignVariableOp"
        # None leads out of the mark that TensorFlow puts on what belongs to a jitted call.
        with tf.control_dependencies(None), tf.device("CPU:0"):
            numbers = tf.concat([*_shapes(inputs), *map(_value, needed)], axis=0)
            noted = getattr(tf.raw_ops, operation)(resource=resource, value=numbers)
        run_independently(graphs[0], noted)
        self._by_graph[graphs[-1]] = call
        return True

    def of(self, function: Any) -> NotedCall | None:
        """The call that the graph of a `ConcreteFunction` notes; the last of several."""
        return self._by_graph.get(function.graph)


def _is_short(tensor: Any) -> bool:
    """Whether its value can be noted: XLA's constants are whole numbers, and few."""
    if not (tensor.dtype.is_integer or tensor.dtype.is_bool):
        return False
    count = tensor.shape.num_elements()
    return count is not None and count <= _LONGEST


def _value(tensor: Any) -> Any:
    import tensorflow as tf

    return tf.reshape(tf.cast(tensor, tf.int64), [-1])


def _shapes(tensors: Sequence[Any]) -> list[Any]:
    """The dimensions of all of them, in few operations: those of one dtype are asked together."""
    import tensorflow as tf

    by_dtype = [
        [tensor for tensor in tensors if tensor.dtype == dtype]
        for dtype in dict.fromkeys(tensor.dtype for tensor in tensors)
    ]
    return [
        shape for alike in by_dtype for shape in tf.raw_ops.ShapeN(input=alike, out_type=tf.int64)
    ]


def _function_around(graph: Any) -> list[Any]:
    """A graph and those around it, out to that of the function which has been called eagerly."""
    graphs = [graph]
    while getattr(outer := getattr(graphs[-1], "outer_graph", None), "building_function", False):
        graphs.append(outer)
    return graphs


def _takes_iterator(graph: Any) -> bool:
    import tensorflow as tf

    arguments = tf.nest.flatten(getattr(graph, "structured_input_signature", None))
    return any(isinstance(each, tf.data.IteratorSpec) for each in arguments)


@functools.cache
def _create(name: str, count: int) -> Any:
    """One resource a function, for the whole process: graphs keep writing to it."""
    import tensorflow as tf

    # Raw operations, so that no strategy, model or variable scope takes it for its own.
    with tf.init_scope(), tf.device("CPU:0"):
        resource = tf.raw_ops.VarHandleOp(
            dtype=tf.int64, shape=[count], shared_name=f"tb_slowdown_plugin_shapes/{name}"
        )
        tf.raw_ops.AssignVariableOp(resource=resource, value=tf.zeros([count], tf.int64))
    return resource
