"""The shapes of batches: those that a Python loop gets, and those that Keras makes of arrays.

Cost: 1 us for the shape of a batch's first tensor. All of them, 1 us each, are looked at where
that one is new, and else once in 16 batches.

Private TensorFlow: `_shape_tuple` of a tensor (2.16 to 2.21), a third of the time that a
`TensorShape` takes; without it the shape is asked.

What Keras turns into a `tf.data` dataset by itself, arrays and PyDatasets, is fetched inside a
graph, where no Python sees it; but Keras makes those batches in Python. Its adapters are private,
so what is known of them is all in this file.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from threading import get_ident
from typing import Any, Final, TypeAlias

from tb_slowdown_plugin.catalog.events import NEW_SHAPE, PY_DATASET
from tb_slowdown_plugin.catalog.names import INPUT_WAIT, VALIDATION
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, code_of
from tb_slowdown_plugin.collectors.input.padded_columns import PaddedColumns
from tb_slowdown_plugin.records.types import Fact

EVERY: Final = 16
"""Batches of which one is looked at whole, where the first tensor's shape stays as it is."""

_NESTS: Final = (tuple, list, dict)

_MOST_NAMED: Final = 64
"""Later new shapes are only counted."""

_MOST_TENSORS: Final = 16
"""Of one batch; more are not needed to see that its shape changes."""

Shape: TypeAlias = tuple[int | None, ...]

Shapes: TypeAlias = tuple[Shape, ...]

_ADAPTERS: Final = "keras.src.trainers.data_adapters."


class BatchShapes:
    """Counts distinct batch shapes, and records each of the first ones when it comes.

    Those of a `tf.data` dataset, and of whatever `tbslow.data` iterates over: arrays or
    tensors, nested in tuples, lists and mappings; those of a `PyDataset`, with the number of
    workers that make them, or of arrays that Keras is given. Other batches that are fetched
    inside a graph have no shape in Python.
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
        self._glance = Glance()
        self._padded = PaddedColumns(context.emit)
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.replace(iterator, "__next__", self._looked_at)
        context.batch_observers.append(self._note)
        self._workers = 0
        self._keras = KerasBatches(
            self._see,
            self._note,
            self._note_dataset,
            self._padded.keep_some_of,
            context.failure_of(self.name),
        )
        self._keras.start()

    def look_once(self) -> None:
        """Looks at a batch that may be padded."""
        self._padded.look()

    def read(self) -> Mapping[str, float]:
        """Distinct shapes so far; nothing before the first batch."""
        return {"batch_shapes": len(self._seen)} if self._seen else {}

    def stop(self) -> None:
        """Puts TensorFlow's method back."""
        self._hooks.remove()
        self._context.batch_observers.remove(self._note)
        self._keras.stop()

    def _looked_at(self, fetch: Method) -> Method:
        watch = self._context.stopwatch
        glance = self._glance

        def next_batch(iterator: Any) -> Any:
            opened = watch.opened
            if opened and opened[-1] == INPUT_WAIT:  # `tbslow.data`, which looks itself
                return fetch(iterator)
            batch = fetch(iterator)
            if (get_ident() == watch.thread and glance.is_new(batch)) and self._executing_eagerly():
                self._note(batch)
            return batch

        return next_batch

    def _see(self, batch: Any) -> None:
        if self._glance.is_new(batch):
            self._note(batch)

    def _note(self, batch: Any) -> None:
        if self._context.stopwatch.is_open(VALIDATION):
            return
        try:
            self._look(batch)
        except Exception as error:  # noqa: BLE001 - batches may be of any make
            self._context.report_failure(
                self.name, f"the shape of a batch can't be read: {type(error).__name__}"
            )

    def _note_dataset(self, dataset: Any) -> None:
        workers = int(dataset.workers)
        if workers != self._workers and not self._context.stopwatch.is_open(VALIDATION):
            self._workers = workers
            place = _place_of_batches(dataset)
            self._context.emit(Fact(PY_DATASET, place, {"workers": workers}))

    def _look(self, batch: Any) -> None:
        tensors = tensors_of(batch)[:_MOST_TENSORS]
        shapes = shapes_of(tensors)
        self._padded.keep(tensors)
        if shapes in self._seen:
            return
        self._seen.add(shapes)
        if len(self._seen) <= _MOST_NAMED:
            numbers = {"distinct": len(self._seen)}
            self._context.emit(Fact(NEW_SHAPE, ", ".join(map(str, shapes)), numbers))


def shapes_of(batch: Any) -> Shapes:
    """The shapes of a (nested) batch's tensors, in their order.

    Example:
      >>> import numpy
      >>> shapes_of({"x": numpy.zeros((32, 10)), "y": (numpy.zeros(32), "id")})
      ((32, 10), (32,))
    """
    return tuple([shape_of(tensor) for tensor in tensors_of(batch)[:_MOST_TENSORS]])


def shape_of(tensor: Any) -> Shape:
    """The shape of whatever has one; None for a length that is not known.

    Example:
      >>> import numpy
      >>> shape_of(numpy.zeros((32, 10)))
      (32, 10)
    """
    read = getattr(tensor, "_shape_tuple", None)
    shape = None if read is None else read()
    if shape is None:
        shape = tuple([None if length is None else int(length) for length in tensor.shape])
    return shape


def has_static_shapes(source: Any) -> bool:
    """Whether `source` is a `tf.data` dataset whose batches all have one shape that is known.

    As after `batch(n, drop_remainder=True)`.
    """
    spec = getattr(source, "element_spec", None)
    if spec is None or "tensorflow" not in sys.modules:
        return False
    import tensorflow as tf

    leaves = tf.nest.flatten(spec)
    return bool(leaves) and all(
        isinstance(leaf, tf.TensorSpec) and leaf.shape.is_fully_defined() for leaf in leaves
    )


class Glance:
    """Tells, for what one shape costs, whether a batch may look otherwise than the one before.

    Example:
      >>> import numpy
      >>> glance = Glance()
      >>> [glance.is_new((numpy.zeros((n, 10)), n)) for n in (32, 32, 20)]
      [True, False, True]
    """

    __slots__ = ("_same", "_shape")

    def __init__(self) -> None:
        self._shape: Shape | None = None
        self._same = 0

    def is_new(self, batch: Any) -> bool:
        """Whether the first tensor's shape has changed, or was the same for `EVERY` batches."""
        try:
            while type(batch) in _NESTS:
                batch = batch[0] if type(batch) is not dict else next(iter(batch.values()))
            # `shape_of` at half its cost: a call less.
            read = getattr(batch, "_shape_tuple", None)
            shape = shape_of(batch) if read is None else read()
        except Exception:  # noqa: BLE001 - empty, no tensor, or one of any make
            shape = None
        if shape == self._shape and self._same:
            self._same -= 1
            return False
        self._shape = shape
        self._same = EVERY - 1
        return True


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


class KerasBatches:
    """Tells of each batch of a `PyDataset`, and of both sizes of batches that arrays give.

    Where Keras has no such adapters, or was not imported yet, nothing is told.

    Args:
      batch: Is given each batch; in any thread.
      size: Is given what has the shapes of batches to come.
      dataset: Is given the `PyDataset` of each batch, in any thread; it may raise.
      arrays: Is given arrays that are cut into batches, and the rows of one.
      fail: Is told what a hook raises.
    """

    def __init__(
        self,
        batch: Callable[[Any], None],
        size: Callable[[Any], None],
        dataset: Callable[[Any], None],
        arrays: Callable[[Sequence[Any], int], None],
        fail: Callable[[Exception], None],
    ) -> None:
        self._tell_batch = batch
        self._tell_size = size
        self._tell_dataset = dataset
        self._tell_arrays = arrays
        self._hooks = MethodHooks("batch_shapes", fail)

    def start(self) -> None:
        """Hooks into Keras's adapters."""
        for module, adapter, method, hook in (
            ("py_dataset_adapter", "PyDatasetAdapter", "_standardize_batch", self._batches),
            ("array_data_adapter", "ArrayDataAdapter", "get_tf_dataset", self._arrays),
        ):
            owner = _find(module, adapter)
            if hasattr(owner, method):
                self._hooks.surround(owner, method, hook)

    def stop(self) -> None:
        """Gives Keras its methods back."""
        self._hooks.remove()

    def _batches(self, adapter: Any, batch: Any) -> Generator[None, Any, None]:
        self._tell_batch(batch)
        with contextlib.suppress(Exception):  # an adapter of another make
            self._tell_dataset(adapter.py_dataset)
        yield

    def _arrays(self, adapter: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        dataset = yield
        with contextlib.suppress(Exception):  # an adapter of another make
            for items in (adapter.batch_size, adapter.partial_batch_size):
                if items:
                    self._tell_size(_sized(dataset.element_spec, int(items)))
            self._tell_arrays(tensors_of(adapter._inputs), int(adapter.batch_size))


def _place_of_batches(dataset: Any) -> str:
    """The program's function that makes a batch; "" where a library does."""
    code = code_of(type(dataset).__getitem__)
    if code is None or is_installed(code.co_filename):
        return ""
    return SourcePlaces.of_process().in_code(code, code.co_firstlineno)


class _Shaped:
    """What a batch looks like that has not been made yet."""

    def __init__(self, shape: tuple[int | None, ...]) -> None:
        self.shape = shape


def _sized(spec: Any, items: int) -> list[_Shaped]:
    """The tensors of a batch of `items`, by the specification that leaves their number open."""
    import tensorflow as tf

    return [_Shaped((items, *each.shape[1:])) for each in tf.nest.flatten(spec)]


def _find(module: str, adapter: str) -> Any:
    if "keras" not in sys.modules:
        return None
    try:
        return getattr(importlib.import_module(_ADAPTERS + module), adapter, None)
    except ImportError:
        return None
