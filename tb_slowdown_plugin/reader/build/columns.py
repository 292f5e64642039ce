"""Columns that grow at their end while earlier views of them stay valid.

A row may come to stand for several steps: what keeps a run without end in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.records.types import Int

_FIRST_CAPACITY: Final = 256

How = Literal["sum", "first", "last", "highest"]
"""What a row of several says of a column; "highest" passes over NaN, the others do not."""

_Columns = Mapping[str, NDArray[Any]]


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
    def names(self) -> tuple[str, ...]:
        """Of all columns."""
        return (*self._constants, *self._arrays)

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
        return {name: self.view(name) for name in self.names}

    def pop(self, name: str) -> NDArray[Any] | None:
        """The column as it is now, and is here no longer; None where there is none."""
        view = self.view(name) if name in self else None
        self._constants.pop(name, None)
        self._arrays.pop(name, None)
        return view

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
        # What no row stands in yet takes no memory, and each larger array is one more copy.
        self._capacity = max(needed, 4 * self._capacity, _FIRST_CAPACITY)
        for name, array in self._arrays.items():  # one at a time: only one is doubled in memory
            larger = np.empty(self._capacity, array.dtype)
            larger[: self.rows] = array[: self.rows]
            self._arrays[name] = larger


class FoldingColumns:
    """Equally long columns that grow at their end, and of which rows can be joined.

    Rows are joined in groups of `width`, counted from the first one, so that it does
    not matter when that was begun. Rows that fill no group yet wait in a remainder.
    Views once handed out never change.

    Args:
      how: What a row of several says, by column; `default` for those not named.
      default: See there.
      absent: What a column gets that a piece does not have.
    """

    def __init__(self, how: Mapping[str, How], default: How, absent: float) -> None:
        self.width = 1
        """Rows as they came in each row as it is kept."""
        self._how = how
        self._default: Final = default
        self._absent = absent
        self._full = GrowingColumns()
        self._rest: dict[str, NDArray[Any]] = {}
        self._rest_counts: Int = np.empty(0, np.int64)

    @property
    def rows(self) -> int:
        """Rows kept, without the remainder."""
        return self._full.rows

    @property
    def nbytes(self) -> int:
        """Bytes in the columns' rows."""
        return self._full.nbytes

    def append(self, rows: int, values: _Columns) -> None:
        """Add rows as they come: name -> (rows,) array."""
        if self.width == 1:
            self._full.append(rows, values, self._absent)
        else:
            self._add(values, rows)

    def widen(self, width: int) -> None:
        """Let each row stand for `width` rows, a multiple of those it stands for now."""
        full, rest, sizes = self._full, self._rest, (self.rows, len(self._rest_counts))
        counts = np.concatenate([np.full(self.rows, self.width), self._rest_counts])
        old, self.width = self.width, width
        self._full, self._rest = GrowingColumns(), {}
        # One column at a time: no two are in memory twice.
        names = dict.fromkeys((*full.names, *rest))
        # What fills no group of the old width fills none of the new one, with the rows before it.
        each = width // old
        ends = each * np.arange(1, sizes[0] // each + 1)
        self._fold(
            counts,
            ends,
            ((name, self._behind(full.pop(name), rest.pop(name, None), sizes)) for name in names),
        )

    def change(self, name: str, function: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        """Put other values into a column; earlier views of it stay as they are."""
        if name in self._full:
            changed = {**self._full.views(), name: function(self._full.view(name))}
            rows, self._full = self._full.rows, GrowingColumns()
            self._full.append(rows, changed, self._absent)
        if name in self._rest:
            self._rest[name] = function(self._rest[name])

    def views(self, *, whole: bool = False) -> dict[str, NDArray[Any]]:
        """Each column as it is now, read-only; with the remainder as a last row if `whole`."""
        views = self._full.views()
        if not whole or not len(self._rest_counts):
            return views
        ends = np.array([len(self._rest_counts)])
        last = {name: self._join(name, column, ends) for name, column in self._rest.items()}
        dtypes = {name: column.dtype for name, column in last.items()}
        return {
            name: np.concatenate([views.get(name, np.empty(0, dtypes[name])), last[name]])
            for name in last
        }

    def _add(self, values: _Columns, rows: int) -> None:
        """Rows as they come, behind those that fill no group yet."""
        rest, old = self._rest, len(self._rest_counts)
        counts = np.concatenate([self._rest_counts, np.ones(rows, np.int64)])
        begun = int(self._rest_counts.sum())
        ends = old - begun + self.width * np.arange(1, (begun + rows) // self.width + 1)
        self._rest = {}
        names = dict.fromkeys((*rest, *values))
        self._fold(
            counts,
            ends,
            ((name, self._behind(rest.get(name), values.get(name), (old, rows))) for name in names),
        )

    def _behind(
        self,
        before: NDArray[Any] | None,
        after: NDArray[Any] | None,
        sizes: tuple[int, int],
    ) -> NDArray[Any]:
        """One column of two parts, of so many rows; one of the parts may not have it."""
        dtype = next(part.dtype for part in (before, after) if part is not None)
        pairs = zip((before, after), sizes, strict=True)
        return np.concatenate(
            [np.full(size, self._absent, dtype) if part is None else part for part, size in pairs]
        )

    def _fold(self, counts: Int, ends: Int, columns: Iterable[tuple[str, NDArray[Any]]]) -> None:
        """Joins rows that stand for `counts` and keeps what fills no group for later.

        `ends` are the rows before which groups end: never inside of one, as each width is a
        multiple of those before it.
        """
        kept = int(ends[-1]) if len(ends) else 0
        joined = {}
        for name, column in columns:
            joined[name] = self._join(name, column[:kept], ends)
            self._rest[name] = column[kept:].copy()
        self._rest_counts = counts[kept:].copy()
        if len(ends):
            self._full.append(len(ends), joined, self._absent)

    def _join(self, name: str, column: NDArray[Any], ends: Int) -> NDArray[Any]:
        """The rows before each of `ends`, from the end before on, as one."""
        if not len(ends):
            return column[:0]
        starts = np.concatenate([[0], ends[:-1]])
        joined: NDArray[Any]
        match self._how.get(name, self._default):
            case "sum":
                joined = np.add.reduceat(column, starts)
            case "highest":
                joined = np.fmax.reduceat(column, starts)
            case "first":
                joined = column[starts]
            case "last":
                joined = column[ends - 1]
        return joined
