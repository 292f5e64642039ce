"""A pass over training data: what makes it an epoch, and how many items its batches hold."""

from __future__ import annotations

from typing import Any

from tb_slowdown_plugin.collectors.input.batch_shapes import (
    Glance,
    has_static_shapes,
    shape_of,
    shapes_of,
    tensors_of,
)
from tb_slowdown_plugin.writer.steps.recorder import Recorder


class DataPass:
    """One iterator over training data, as one monitor sees it.

    Args:
      recorder: Of the monitor.
      source: What is iterated over: its batches are looked at once where it is a dataset whose
        batches all have one shape. None to look at each that may have another.
    """

    __slots__ = (
        "_first_row",
        "_glance",
        "_is_static",
        "_items",
        "_reader",
        "_source",
        "is_epoch",
        "recorder",
    )

    def __init__(self, recorder: Recorder, source: object = None) -> None:
        self.recorder = recorder
        self.is_epoch = False
        self._first_row = recorder.rows
        self._source = source
        self._glance = Glance()
        self._reader = ItemReader()
        self._items: int | None = None
        self._is_static = False

    def note_fetch(self) -> None:
        """Before each batch after the first: the second step makes an epoch, once it is done."""
        if not self.is_epoch and self._first_row < self.recorder.rows:
            self.is_epoch = True
            self.recorder.due.expect_epoch(self._first_row)

    def note_batch(self, batch: Any) -> None:
        """After each batch: its items are those of the next step, and observers see a new look."""
        if not self._is_static and self._glance.is_new(batch):
            self._items = self._reader.read(batch)
            for observe in self.recorder.batch_observers:
                observe(batch)
            self._is_static = has_static_shapes(self._source)
        self.recorder.batch_items = self._items


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
