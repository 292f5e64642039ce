"""Arrays that grow at their end while earlier views of them stay valid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_FIRST_CAPACITY: Final = 256


class GrowingColumns:
    """Equally long columns to which rows are appended; memory is claimed in large pieces.

    A view once handed out never changes: rows are only added behind it. That is
    what lets a web server answer from the arrays of the last reload while the
    next one is appended, with one copy of the data in memory.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._capacity = 0
        self._arrays: dict[str, NDArray[Any]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    @property
    def nbytes(self) -> int:
        """Bytes in the columns' rows."""
        return sum(array.itemsize for array in self._arrays.values()) * self.rows

    def append(self, rows: int, values: Mapping[str, NDArray[Any]], absent: float) -> None:
        """Add `rows` rows.

        Args:
          rows: How many.
          values: name -> (rows,) array. A name seen for the first time gets
            `absent` in all earlier rows.
          absent: What a column gets that is not in `values`.
        """
        end = self.rows + rows
        if end > self._capacity:
            self._grow(end)
        for name, column in values.items():
            array = self._arrays.get(name)
            if array is None:
                array = np.empty(self._capacity, column.dtype)
                if self.rows:
                    array[: self.rows] = absent
                self._arrays[name] = array
            array[self.rows : end] = column
        for name in self._arrays.keys() - values.keys():
            self._arrays[name][self.rows : end] = absent
        self.rows = end

    def view(self, name: str) -> NDArray[Any]:
        """(rows,) the column as it is now, read-only."""
        view = self._arrays[name][: self.rows]
        view.flags.writeable = False
        return view

    def views(self) -> dict[str, NDArray[Any]]:
        """Each column as it is now, read-only."""
        return {name: self.view(name) for name in self._arrays}

    def _grow(self, needed: int) -> None:
        self._capacity = max(needed, 2 * self._capacity, _FIRST_CAPACITY)
        for name, array in self._arrays.items():  # one at a time: only one is doubled in memory
            larger = np.empty(self._capacity, array.dtype)
            larger[: self.rows] = array[: self.rows]
            self._arrays[name] = larger
