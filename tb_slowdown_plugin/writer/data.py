"""`tbslow.data`: any iterable, with the wait for each batch booked as input wait.

Each batch also says how many examples it holds, where that can be read off it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from threading import get_ident
from typing import Generic, TypeVar, cast

from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer import current_recorder, monitor
from tb_slowdown_plugin.writer.steps.data_pass import DataPass

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
    """Batches that also have the length of their source."""

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
    __slots__ = ("_next", "_pass", "_source")

    def __init__(self, source: Iterable[T]) -> None:
        self._source = source
        self._next: Callable[[], T] | None = None
        self._pass: DataPass | None = None

    def __next__(self) -> T:
        recorder = monitor.explicit_recorder or current_recorder.recorder_for_data()
        if recorder is None:
            return self._fetch()
        watch = recorder.stopwatch
        if get_ident() != watch.thread and not recorder.is_mine():
            return self._fetch()
        current = self._pass
        if current is None or current.recorder is not recorder:
            recorder.open_period()
            # Another monitor has seen no batch yet.
            current = self._pass = DataPass(recorder, self._source)
        elif not current.is_epoch:
            recorder.open_period()
            current.note_fetch()
        batch = watch.wait(self._next or self._fetch)
        current.note_batch(batch)
        return batch

    def _fetch(self) -> T:
        if self._next is None:
            # Making the iterator may fill a shuffle buffer: that is waiting as well.
            self._next = iter(self._source).__next__
        return self._next()
