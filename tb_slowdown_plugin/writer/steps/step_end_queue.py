"""What the training thread does after a step, where somebody has asked for it.

Marking that an epoch begins is one such thing: with which row, is decided here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

EVALUATION_KINDS: Final = frozenset(("eval", "evaluation", "test", "validation"))
"""A pass over data with steps of these kinds is no epoch."""


class Due:
    """Work for the end of a step; a step that finds nothing pays for one look at `is_any`.

    Example:
      >>> due = Due()
      >>> due.call_after_steps(lambda: False)
      >>> due.is_any, due.do("train"), due.is_any
      (True, [], False)
    """

    __slots__ = ("_calls", "_epochs", "_sample_due", "is_any", "sample")

    def __init__(self) -> None:
        self.is_any = False
        """Whether the end of this step is to call `do`."""
        self.sample: Callable[[], None] = lambda: None
        """What is called after `ask_for_sample`."""
        self._calls: list[Callable[[], bool]] = []
        self._epochs = Epochs()
        self._sample_due = False

    def mark_epoch(self, row: int, number: int) -> tuple[int, int] | None:
        """As `Epochs.mark`."""
        return self._epochs.mark(row, number)

    def expect_epoch(self, first_row: int) -> None:
        """A pass over data that began at `first_row` is an epoch if this step ends well."""
        self._epochs.expect(first_row)
        self.is_any = True

    def ask_for_sample(self) -> None:
        """Has the end of the next step call `sample`. Any thread."""
        self._sample_due = True
        self.is_any = True

    def call_after_steps(self, call: Callable[[], bool]) -> None:
        """Has the training thread call it after each step as long as it returns True. Any thread.

        Args:
          call: Must not raise.
        """
        self._calls.append(call)
        self.is_any = True

    def do(self, kind: str) -> list[tuple[int, int]]:
        """Does it, after a step of this kind; gives (row, number) of epochs that begin."""
        self.is_any = False
        for call in tuple(self._calls):
            if call():
                self.is_any = True
            else:
                self._calls.remove(call)
        if self._sample_due:
            self._sample_due = False
            self.sample()
        return self._epochs.confirm(kind)

    def clear(self) -> None:
        """Forgets what was to be called."""
        self._calls.clear()


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
