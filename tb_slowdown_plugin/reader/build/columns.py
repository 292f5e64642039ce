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
    next one is appended, with one copy of the data in memory. A column takes no
    memory while all its values are the same: steps of one kind, or not measured.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._capacity = 0
        self._arrays: dict[str, NDArray[Any]] = {}
        self._constants: dict[str, NDArray[Any]] = {}
        """(1,) each"""

    def __contains__(self, name: str) -> bool:
        return name in self._arrays or name in self._constants

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
        for name in dict.fromkeys((*self._constants, *values)):
            if name not in self._arrays:
                self._append_to_constant(name, values.get(name, np.array([absent])), absent)
        for name, array in self._arrays.items():
            array[self.rows : end] = values.get(name, absent)
        self.rows = end

    def view(self, name: str) -> NDArray[Any]:
        """(rows,) the column as it is now, read-only."""
        if name in self._constants:
            return np.broadcast_to(self._constants[name], (self.rows,))
        view = self._arrays[name][: self.rows]
        view.flags.writeable = False
        return view

    def views(self) -> dict[str, NDArray[Any]]:
        """Each column as it is now, read-only."""
        return {name: self.view(name) for name in (*self._constants, *self._arrays)}

    def _append_to_constant(self, name: str, added: NDArray[Any], absent: float) -> None:
        """Leaves a column without an array, or gives it one for the rows before these."""
        constant = self._constants.get(name)
        if not self.rows:
            constant = np.resize(added, 1)
        elif constant is None:
            constant = np.full(1, absent, added.dtype)
        if (added == constant).all() or (np.isnan(added).all() and np.isnan(constant).all()):
            self._constants[name] = constant
            return
        array = np.empty(self._capacity, constant.dtype)
        array[: self.rows] = constant
        self._constants.pop(name, None)
        self._arrays[name] = array

    def _grow(self, needed: int) -> None:
        self._capacity = max(needed, 2 * self._capacity, _FIRST_CAPACITY)
        for name, array in self._arrays.items():  # one at a time: only one is doubled in memory
            larger = np.empty(self._capacity, array.dtype)
            larger[: self.rows] = array[: self.rows]
            self._arrays[name] = larger
