"""Columns of a batch of sequences that hold nothing but padding, in all of its examples.

As where texts of forty words are padded to 512, and not to the longest of a batch. Some batches are
kept until they are looked at, in the background. What `fit` fetches from a dataset inside of its
graph is not seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.catalog.events import PADDED_BATCH
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.records.types import Fact

_FEWEST_COLUMNS: Final = 16
_MOST_NUMBERS: Final = 1_000_000
"""In a batch that is looked at: to compare as many takes 2 ms."""
_MOST_KEPT: Final = 4
"""Until the next look."""
_BATCHES_OF_ARRAYS: Final = 4
_MOST_LOOKS: Final = 32
_MOST_WIDTHS: Final = 4
_PADDED: Final = 0.75
"""Share of its columns up to which a batch is told to be padded."""
_WORDS, _FEATURES = 2, 3
"""Dimensions: of numbers of words, of numbers for each word."""


def may_be_padded(shape: Sequence[int | None], dtype: Any) -> bool:
    """Whether a tensor may hold a batch of sequences.

    That is, numbers of words, or several numbers for each of them.

    Example:
      >>> may_be_padded((32, 128), np.int32), may_be_padded((32, 128), np.float32)
      (True, False)
      >>> may_be_padded((32, 128, 8), np.float32), may_be_padded((32, 8), np.int32)
      (True, False)
    """
    kind = np.dtype(dtype).kind
    wanted = {"i": _WORDS, "u": _WORDS, "f": _FEATURES}.get(kind, 0)
    return len(shape) == wanted and (shape[1] or 0) >= _FEWEST_COLUMNS


def _is_batch(value: Any) -> bool:
    """Whether it is an array or a tensor that may be padded; not of another library, nor sparse."""
    if isinstance(value, np.ndarray):
        return may_be_padded(value.shape, value.dtype)
    dtype: Any = getattr(value, "dtype", None)
    if not hasattr(dtype, "as_numpy_dtype") or not hasattr(value, "numpy"):
        return False
    is_number = bool(value.shape.rank) and (dtype.is_integer or dtype.is_floating)
    return is_number and may_be_padded(tuple(value.shape), dtype.as_numpy_dtype)


def count_used(batch: NDArray[Any]) -> int:
    """The columns up to the end of the longest example; all of them where none is padding.

    Padding is one number, at the end of all examples or at their beginning. Numbers that aren't
    those of words may be the same for other reasons: then examples have to differ in length.

    Example:
      >>> count_used(np.array([[5, 7, 0, 0], [5, 0, 0, 0]]))
      2
      >>> count_used(np.array([[0, 0, 5], [0, 7, 5]]))
      2
    """
    return min(_count_used_until(batch), _count_used_until(batch[:, ::-1]))


def _count_used_until(batch: NDArray[Any]) -> int:
    """The same where padding is at the end."""
    columns = int(batch.shape[1])
    padding = batch[:, -1].flat[0]
    if not np.all(batch[:, -1] == padding):
        return columns
    used = batch != padding
    if batch.ndim == _FEATURES:
        used = used.any(axis=2)
    lengths = np.where(used.any(axis=1), columns - np.argmax(used[:, ::-1], axis=1), 0)
    longest = int(lengths.max())
    differ = np.mean(lengths == longest) <= MAJORITY
    return longest if differ or batch.ndim == _WORDS else columns


class PaddedColumns:
    """Tells how many columns of batches are used, of each width.

    Args:
      emit: Takes the facts.
    """

    def __init__(self, emit: Callable[[Fact], None]) -> None:
        self._emit = emit
        self._kept: list[Any] = []
        self._used: dict[int, list[int]] = {}
        """Width -> the used columns of each batch that was looked at."""
        self._told: set[int] = set()

    def keep(self, tensors: Sequence[Any]) -> None:
        """Those of a batch that may be padded, to look at them later."""
        room = _MOST_KEPT - len(self._kept)
        if not room:
            return
        fitting = [
            each
            for each in tensors
            if _is_batch(each)
            and math.prod(each.shape) <= _MOST_NUMBERS
            and len(self._used.get(int(each.shape[1]), ())) < _MOST_LOOKS
        ]
        self._kept += fitting[:room]

    def keep_some_of(self, arrays: Sequence[Any], rows: int) -> None:
        """A few batches of so many rows, out of arrays of which batches will be made."""
        for each in arrays:
            if isinstance(each, np.ndarray) and _is_batch(each):
                apart = max(len(each) // rows, 1)
                for first in range(min(apart, _BATCHES_OF_ARRAYS)):
                    self.keep([each[first::apart][:rows]])

    def look(self) -> None:
        """At what was kept, in the background."""
        kept, self._kept = self._kept, []
        for each in kept:
            batch = np.asarray(each)
            columns = int(batch.shape[1])
            if columns not in self._used and len(self._used) >= _MOST_WIDTHS:
                continue
            used = self._used.setdefault(columns, [])
            used.append(count_used(batch))
            usual = float(np.mean(used))
            is_due = len(used).bit_count() == 1
            if is_due and (columns in self._told or usual <= _PADDED * columns):
                self._told.add(columns)
                numbers = {"columns": float(columns), "used": usual, "longest": float(max(used))}
                self._emit(Fact(PADDED_BATCH, "", {**numbers, "batches": float(len(used))}))
