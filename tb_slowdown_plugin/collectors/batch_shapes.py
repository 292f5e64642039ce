"""The shapes of the batches that a Python loop gets.

Cost: 1 us a tensor of a batch, 12 us a batch of two between real steps, looked at no more
often than once in 1 ms.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any, Final, TypeAlias

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.keras_batches import KerasBatches
from tb_slowdown_plugin.collectors.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.records.types import Fact

_INTERVAL_NS: Final = 1_000_000
_MOST_NAMED: Final = 64
"""Later new shapes are only counted."""
_MOST_TENSORS: Final = 16
"""Of one batch; more are not needed to see that its shape changes."""

Shapes: TypeAlias = tuple[tuple[int | None, ...], ...]


class BatchShapes:
    """Counts distinct batch shapes, and records each of the first ones when it comes.

    Those of a `tf.data` dataset, and of whatever `tbslow.data` iterates over: arrays or
    tensors, nested in tuples, lists and mappings; those of a `PyDataset` or arrays that
    Keras is given. Other batches that are fetched inside a graph have no shape in Python.
    """

    name = "batch_shapes"

    def start(self, context: Context) -> None:
        """Replaces the method by which a Python loop gets its next batch.

        Raises:
          Unavailable: This TensorFlow's iterator has another one.
        """
        import tensorflow as tf
        from tensorflow.python.data.ops import iterator_ops

        iterator = getattr(iterator_ops, "OwnedIterator", None)
        if not hasattr(iterator, "__next__"):
            raise Unavailable("this TensorFlow has no OwnedIterator that Python can iterate")
        self._context = context
        self._executing_eagerly = tf.executing_eagerly
        self._seen: set[Shapes] = set()
        self._looked_ns = -_INTERVAL_NS
        self._hooks = MethodHooks()
        self._hooks.replace(iterator, "__next__", self._looked_at)
        context.batch_observers.append(self._see)
        self._keras = KerasBatches(batch=self._see, size=self._note)
        self._keras.start()

    def read(self) -> Mapping[str, float]:
        """Distinct shapes so far; nothing before the first batch."""
        return {"batch_shapes": len(self._seen)} if self._seen else {}

    def stop(self) -> None:
        """Puts TensorFlow's method back."""
        self._hooks.remove()
        self._context.batch_observers.remove(self._see)
        self._keras.stop()

    def _looked_at(self, fetch: Method) -> Method:
        @functools.wraps(fetch)
        def next_batch(iterator: Any) -> Any:
            batch = fetch(iterator)
            if self._context.stopwatch.is_mine() and self._executing_eagerly():
                self._see(batch)
            return batch

        return next_batch

    def _see(self, batch: Any) -> None:
        if self._context.clock.monotonic_ns() - self._looked_ns >= _INTERVAL_NS:
            self._note(batch)

    def _note(self, batch: Any) -> None:
        if self._context.stopwatch.is_open("validation"):
            return
        try:
            self._look(batch)
        except Exception as error:  # noqa: BLE001 - batches may be of any make
            self._looked_ns = self._context.clock.monotonic_ns()
            self._context.report_failure(
                self.name, f"the shape of a batch can't be read: {type(error).__name__}"
            )

    def _look(self, batch: Any) -> None:
        shapes = shapes_of(batch)
        self._looked_ns = self._context.clock.monotonic_ns()
        if shapes in self._seen:
            return
        self._seen.add(shapes)
        if len(self._seen) <= _MOST_NAMED:
            numbers = {"distinct": len(self._seen)}
            self._context.emit(Fact("batch_shape", ", ".join(map(str, shapes)), numbers))


def shapes_of(batch: Any) -> Shapes:
    """The shapes of a (nested) batch's tensors, in their order.

    Example:
      >>> import numpy
      >>> shapes_of({"x": numpy.zeros((32, 10)), "y": (numpy.zeros(32), "id")})
      ((32, 10), (32,))
    """
    return tuple(
        [
            tuple([None if length is None else int(length) for length in tensor.shape])
            for tensor in tensors_of(batch)[:_MOST_TENSORS]
        ]
    )


def tensors_of(batch: Any) -> list[Any]:
    """Whatever has a shape in a (nested) batch, in its order."""
    if isinstance(batch, (tuple, list)):
        parts: Collection[Any] = batch
    elif hasattr(batch, "shape"):  # before the question for a mapping, which takes 3 us
        return [batch]
    elif isinstance(batch, Mapping):
        parts = batch.values()
    else:
        return []
    found = []
    for part in parts:
        found += [part] if hasattr(part, "shape") else tensors_of(part)
    return found
