"""Which calls are steps in a program that doesn't train a variable.

A sampler, a solver, or an optimization of plain tensors calls a `tf.function` or computes
gradients in a loop, and assigns to nothing. The same calls also prepare data before a model is
made, so they count from a later call on, only while nothing trains, and as steps of a kind of
their own. Where there is a trainable variable, training may begin at any moment: only gradients
count then, and from a far later call on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final

_CALLS_UNCOUNTED: Final = 8
"""Calls of a function, or of a line that computes gradients, before the first step. Chosen by
hand."""

_CALLS_BESIDE_VARIABLES: Final = 64
"""The same where there is a variable to train: an optimizer may be applied after so many gradients
that were added up, or after the inner steps of several tasks. Chosen by hand."""


class Computations:
    """Counts the calls until they are steps.

    Example:
      >>> computations = Computations()
      >>> [computations.is_step("energy") for _ in range(10)].count(True)
      2
    """

    def __init__(self) -> None:
        self._calls: Counter[Hashable] = Counter()
        self._uncounted = _CALLS_UNCOUNTED
        self.is_training_expected = False
        """Whether there is a variable to train."""
        self.found = False
        """Whether any call was a step, since then where it is expected."""

    def is_step(
        self, what: Hashable, computes_gradients: Callable[[], bool] = lambda: True
    ) -> bool:
        """Whether a call counts as a step.

        Args:
          what: Tells the function or the line from others.
          computes_gradients: Is asked where that matters.
        """
        self._calls[what] += 1
        if self._calls[what] <= self._uncounted:
            return False
        if self.is_training_expected and not computes_gradients():
            self._calls[what] = 0  # it is asked again after as many calls
            return False
        self.found = True
        return True

    def expect_training(self) -> None:
        """There is a variable to train now: what was counted before doesn't count any more."""
        self._calls.clear()
        self._uncounted = _CALLS_BESIDE_VARIABLES
        self.is_training_expected = True
        self.found = False
