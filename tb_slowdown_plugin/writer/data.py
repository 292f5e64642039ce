"""`tbslow.data`: any iterable, with the wait for each batch booked as input wait.

Each batch also says how many examples it holds, where that can be read off it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from threading import get_ident
from typing import Any, Generic, TypeVar, cast

from tb_slowdown_plugin.collectors.input.batch_shapes import (
    Glance,
    has_static_shapes,
    shape_of,
    shapes_of,
    tensors_of,
)
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer import current_recorder, monitor
from tb_slowdown_plugin.writer.steps.recorder import Recorder

T = TypeVar("T")


class Batches(Generic[T]):
    """Iterates over its source as often as the source allows."""

    def __init__(self, source: Iterable[T]) -> None:
        self._source = source

    def __iter__(self) -> Iterator[T]:
        """A new pass over the source."""
        recorder = current_recorder.recorder_for_data()
        if recorder is not None and recorder.is_tracing():
            raise UsageError(
                "tbslow.data() is iterated inside a tf.function, where each batch would be traced; "
                "iterate over it outside, or over the dataset itself inside"
            )
        return _Pass(self._source)

    def __bool__(self) -> bool:
        return bool(self._source)


class SizedBatches(Batches[T]):
    """Likewise, with the length of its source."""

    def __len__(self) -> int:
        return len(cast(Sized, self._source))


def data(iterable: Iterable[T]) -> Batches[T]:
    """Measures the wait for each batch of `iterable` as input wait.

    The result can be iterated as often as `iterable` itself, and has a length if
    `iterable` has one, so it can be created once, before the loop over epochs. A
    pass with at least two training steps is an epoch. A pass can end early, and
    several passes can run at once. Without an active monitor, and in other threads
    than the training thread, batches pass through unchanged.

    Steps without `items` get those of the last batch: the first dimension of its
    arrays or tensors, if all have the same.

    Args:
      iterable: A `tf.data.Dataset`, a generator, a list, or any other iterable.

    Raises:
      UsageError: `iterable` can't be iterated.

    Example:
      >>> batches = data(["a", "b"])
      >>> len(batches), list(batches), list(batches)
      (2, ['a', 'b'], ['a', 'b'])
    """
    if not hasattr(iterable, "__iter__") and not hasattr(iterable, "__getitem__"):
        raise UsageError(
            f"data({type(iterable).__name__}) can't be iterated; "
            "give a dataset, a generator or a list"
        )
    return SizedBatches(iterable) if hasattr(iterable, "__len__") else Batches(iterable)


class _Pass(Iterator[T]):
    __slots__ = (
        "_batch_items",
        "_first_row",
        "_glance",
        "_is_static",
        "_items",
        "_next",
        "_recorder",
        "_source",
    )

    def __init__(self, source: Iterable[T]) -> None:
        self._source = source
        self._next: Callable[[], T] | None = None
        self._recorder: Recorder | None = None
        self._first_row = -1
        self._glance = Glance()
        self._items = ItemReader()
        self._batch_items: int | None = None
        self._is_static = False
        """Whether no batch looks otherwise than the one that was looked at."""

    def __next__(self) -> T:
        recorder = monitor.explicit_recorder or current_recorder.recorder_for_data()
        if recorder is None:
            return self._fetch()
        watch = recorder.stopwatch
        if get_ident() != watch.thread and not recorder.is_mine():
            return self._fetch()
        if recorder is not self._recorder or self._first_row >= 0:
            recorder.open_period()
            self._note_row(recorder)
        batch = watch.wait(self._next or self._fetch)
        if not self._is_static and self._glance.is_new(batch):
            self._batch_items = self._items.read(batch)
            for observe in recorder.batch_observers:
                observe(batch)
            self._is_static = has_static_shapes(self._source)
        recorder.batch_items = self._batch_items
        return batch

    def _fetch(self) -> T:
        if self._next is None:
            # Making the iterator may fill a shuffle buffer: that is waiting as well.
            self._next = iter(self._source).__next__
        return self._next()

    def _note_row(self, recorder: Recorder) -> None:
        row = recorder.rows
        if recorder is not self._recorder:
            self._recorder, self._first_row = recorder, row
            self._glance, self._is_static = Glance(), False  # another monitor has seen no batch yet
        elif 0 <= self._first_row < row:
            # The second step that this pass feeds makes it an epoch, once it is done.
            recorder.due.expect_epoch(self._first_row)
            self._first_row = -1


class ItemReader:
    """Reads the items of batches: for those that may look otherwise than the one before.

    That is the first dimension, where all tensors of the first batch agree on it. Later
    ones are not compared any more, and scalars have none.

    Example:
      >>> import numpy
      >>> reader = ItemReader()
      >>> [reader.read((numpy.zeros((n, 10)), {"y": numpy.zeros(n)})) for n in (32, 20)]
      [32, 20]
      >>> ItemReader().read((numpy.zeros((32, 10)), numpy.zeros(3)))
    """

    __slots__ = ("_agree",)

    def __init__(self) -> None:
        self._agree: bool | None = None

    def read(self, batch: Any) -> int | None:
        """The items of `batch`, None where they can't be read off it; never raises."""
        try:
            if self._agree is None:
                self._agree = len({shape[:1] for shape in shapes_of(batch)} - {()}) == 1
            for tensor in tensors_of(batch) if self._agree else ():
                if shape := shape_of(tensor):
                    return shape[0]
        except Exception:  # noqa: BLE001 - batches may be of any make
            self._agree = False
        return None
