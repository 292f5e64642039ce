"""How many examples a batch holds, where that can be read off it."""

from __future__ import annotations

from typing import Any

from tb_slowdown_plugin.collectors.batch_shapes import shapes_of, tensors_of


class ItemReader:
    """Reads the items of one batch after the other: 2 us each.

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
        if self._agree is False:
            return None
        try:
            first = batch[0] if type(batch) is tuple and batch else batch
            shape: Any = getattr(first, "shape", ())
            if self._agree and len(shape):
                return int(shape[0])  # most batches: looking for tensors takes twice as long
            if self._agree is None:
                self._agree = len({shape[:1] for shape in shapes_of(batch)} - {()}) == 1
            for tensor in tensors_of(batch) if self._agree else ():
                if len(tensor.shape):
                    return int(tensor.shape[0])
        except Exception:  # noqa: BLE001 - batches may be of any make
            self._agree = False
        return None
