"""Which calls are steps in a program that has no variable to train.

A sampler, a solver, or an optimization of plain tensors calls a `tf.function` or computes
gradients in a loop, and assigns to nothing. The same calls also prepare data before a model is
made, so they count from a later call on, only while no trainable variable exists, and as steps of
a kind of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Final

_CALLS_UNCOUNTED: Final = 8
"""Calls of a function, or of a line that computes gradients, before the first step. Chosen by
hand."""


class Computations:
    """Counts the calls until they are steps.

    Example:
      >>> computations = Computations()
      >>> [computations.is_step("energy") for _ in range(10)].count(True)
      2
    """

    def __init__(self) -> None:
        self._calls: Counter[Hashable] = Counter()

    def is_step(self, what: Hashable) -> bool:
        """Whether a call counts as a step.

        Args:
          what: Tells the function or the line from others.
        """
        self._calls[what] += 1
        return self._calls[what] > _CALLS_UNCOUNTED
