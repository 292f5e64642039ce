"""Which assignments of a program to its own variables are steps: those of an update by hand.

`weights.assign_sub(rate * gradient)` trains without an optimizer and without a graph, as does
`model.set_weights(candidate)` of an evolution strategy. A turn is all that is assigned until the
same line assigns to the same variable again, and each turn is a step. A model is also loaded,
copied, and clipped by assignments, so they count where nothing else trains, and from a later turn
where values are set than where they are changed.
"""

from __future__ import annotations

from typing import Final

INCREMENTS: Final = frozenset(("assign_add", "assign_sub", "scatter_add", "scatter_sub"))
"""Methods of a variable that change its value by another one."""
METHODS: Final = (*sorted(INCREMENTS), "assign")

_TURNS_UNCOUNTED: Final = 1
"""Turns of increments before the first step. Chosen by hand."""
_COPIES_UNCOUNTED: Final = 8
"""Turns of copies before the first step: a target network is copied before training begins, too.
Chosen by hand."""


class Assignments:
    """Tells where a turn begins that is a step.

    Example:
      >>> assignments = Assignments()
      >>> [assignments.begins_step(line, variable, is_increment=True)
      ...  for line, variable in [(7, "kernel"), (8, "bias"), (7, "kernel"), (8, "bias")]]
      [False, False, True, False]
    """

    def __init__(self) -> None:
        self._turn: set[tuple[object, object]] = set()
        self._turns = 0
        self._has_increments = False

    def begins_step(self, line: object, variable: object, *, is_increment: bool) -> bool:
        """Whether this assignment is the first one of a step.

        Args:
          line: Of the program.
          variable: What tells it from others.
          is_increment: Its value is changed by another one, not set.
        """
        self._has_increments |= is_increment
        if (line, variable) not in self._turn:
            self._turn.add((line, variable))
            return False
        self._turn = {(line, variable)}
        self._turns += 1
        return self._turns >= (_TURNS_UNCOUNTED if self._has_increments else _COPIES_UNCOUNTED)
