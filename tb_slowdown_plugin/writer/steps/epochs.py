"""Which rows begin an epoch."""

from __future__ import annotations

from typing import Final

EVALUATION_KINDS: Final = frozenset(("eval", "evaluation", "test", "validation"))
"""A pass over data with steps of these kinds is no epoch."""


class Epochs:
    """Epochs by hand and by passes over data, each row at most once.

    Several iterators at once, or a pass that was marked by hand as well, are
    one epoch.

    Example:
      >>> epochs = Epochs()
      >>> epochs.mark(0, 5)
      (0, 5)
      >>> epochs.expect(10)
      >>> epochs.confirm("train")
      [(10, 6)]
    """

    def __init__(self) -> None:
        self._expected: list[int] = []
        self._row = -1
        self._number = -1

    def mark(self, row: int, number: int) -> tuple[int, int] | None:
        """(row, number) of the epoch that begins there; None if one does already."""
        if row <= self._row:
            return None
        self._row, self._number = row, number
        return row, number

    def expect(self, first_row: int) -> None:
        """The pass that began at `first_row` is an epoch if the step under way ends well."""
        self._expected.append(first_row)

    def confirm(self, kind: str) -> list[tuple[int, int]]:
        """The expected epochs that a finished step of this kind makes real."""
        expected, self._expected = self._expected, []
        if kind in EVALUATION_KINDS:
            return []
        marked = [self.mark(row, self._number + 1) for row in expected]
        return [one for one in marked if one is not None]
