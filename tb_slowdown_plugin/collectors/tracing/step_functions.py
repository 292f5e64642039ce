"""Which functions a step runs: steps that do other work are not compared with each other."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import STEP_FUNCTION
from tb_slowdown_plugin.collectors.tracing.subjects import Subject
from tb_slowdown_plugin.records.types import Fact, What

GRADIENTS: Final = 1
"""The bit of a `tf.GradientTape` that was opened outside of any function."""
_MOST_FUNCTIONS: Final = 40
"""Functions that are told apart; all others share one bit."""

_MOST_OF_A_LINE: Final = 3
"""Functions of one line that are told apart; with more it makes them anew."""

_MOST_SIZES: Final = 8
"""Sizes of models that one line trains, and that are told apart; with more they go on growing."""


class StepFunctions:
    """Gives each function that the training loop calls a bit.

    A function is its name and place: one that is made anew in each step stays the same one, and
    so do the steps of a Keras model, whatever line trains it. A few that one line made and that
    are all in use, such as the steps of two networks, are told apart. Functions of libraries and of
    `tf.data` have none: their calls say nothing of the work that the program chose.

    Args:
      emit: Records which function has which bit, once for each.
    """

    def __init__(self, emit: Callable[[What], None]) -> None:
        self._emit = emit
        self._places: dict[str, int] = {}
        self._of_line: dict[str, list[int]] = {}
        """Function and place -> `id` of the options of those that are alive."""
        self._sizes: dict[str, list[int]] = {}
        """Function and place -> numbers in the variables of its graphs."""
        self._kept: dict[int, weakref.ref[Any]] = {}
        self.bits: dict[int, int] = {}
        """`id` of the `TracingOptions` of a `tf.function` -> its bit, 0 for none.

        Read at each call, so a plain table."""

    def learn(self, options: Any, subject: Subject, elements: int = 0) -> int:
        """The bit of the function with these options, known from now on.

        Args:
          options: Its `TracingOptions`.
          subject: What it runs.
          elements: Numbers in the variables that its graph uses.
        """
        key, bits, kept = id(options), self.bits, self._kept

        def forget(_: Any) -> None:
            # Another function's options may get the same id.
            bits.pop(key, None)
            kept.pop(key, None)

        kept[key] = weakref.ref(options, forget)
        bits[key] = bit = self._find_bit(subject, key, elements)
        return bit

    def _find_bit(self, subject: Subject, key: int, elements: int) -> int:
        is_made_by_library = subject.is_library or subject.creates_variables_of is not None
        if subject.is_tf_data or (is_made_by_library and subject.model is None):
            return 0
        place = f" ({subject.location})" if subject.model is None and subject.location else ""
        name = subject.function + self._find_variant(subject.function + place, elements)
        if place:
            before = self._of_line.setdefault(name + place, [])
            before[:] = [each for each in before if each in self._kept]
            before.append(key)
            if 1 < len(before) <= _MOST_OF_A_LINE:
                name += f" no. {len(before)}"
            name += place
        return self.bit_of(name)

    def bit_of(self, name: str) -> int:
        """The bit of what has a name of its own, known from now on."""
        bit = self._places.get(name)
        if bit is None:
            bit = self._places[name] = min(len(self._places) + 1, _MOST_FUNCTIONS + 1)
            if bit <= _MOST_FUNCTIONS:
                self._emit(Fact(STEP_FUNCTION, name, {"bit": float(bit)}))
        return 1 << bit

    def _find_variant(self, name: str, elements: int) -> str:
        """What to add to its name where its model has another size than the first one."""
        sizes = self._sizes.setdefault(name, [])
        if elements and elements not in sizes and len(sizes) < _MOST_SIZES:
            sizes.append(elements)
        is_other = elements in sizes[1:]
        return f" with {elements:,} numbers in variables" if is_other else ""
