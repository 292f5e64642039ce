"""Optimizers: how large their state is, and those that are made again during training.

`compile()` of a model that trains already makes one again as well, and throws its train
step away: its other seconds go where those of the new trace go.

Cost: 3 us an optimizer made, 10 us a `compile()`; 1 us a sample, 20 us out of a cold
cache, in the background.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CREATION
from tb_slowdown_plugin.catalog.events import HALF_PRECISION, OPTIMIZER_AT, OPTIMIZER_CREATED
from tb_slowdown_plugin.collectors.base import (
    Context,
    find_keras,
)
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.keras.fit_options import is_half
from tb_slowdown_plugin.collectors.keras.user_calls import UserCalls
from tb_slowdown_plugin.records.types import Fact

_MOST_PLACES: Final = 5
"""Lines that make optimizers again, of which a record has the place."""

_AROUND: Final = (CREATION, names.CHECKPOINT)
"""Accounts that have it already: Keras makes optimizers of its own while it saves a model."""


@dataclass(slots=True)
class _LiveOptimizer:
    """An optimizer that is alive."""

    optimizer: weakref.ref[Any]
    is_again: bool
    """Whether it was made where one had been made before."""
    variables: int = 0
    size_bytes: int = 0
    """Of its variables, which keep the shape that they were made with."""


class Optimizers:
    """Books the seconds of optimizers made again, and samples variables of those alive.

    Made again means: while training runs, at a place in the user's code that
    has made one before. Two optimizers of one model are two places, or are made
    before the first step.
    """

    name = "optimizers"

    def start(self, context: Context) -> None:
        """Hooks into the making of Keras optimizers.

        Raises:
          Unavailable: Keras has not been imported, so there are no optimizers of its.
        """
        keras = find_keras()
        self._context = context
        self._calls = UserCalls(context)
        self._precision_is_told = False
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._places: set[tuple[str, int]] = set()
        self._told: set[tuple[str, int]] = set()
        self._source = SourcePlaces.of_process()
        self._known: dict[int, _LiveOptimizer] = {}
        """By the identity of the optimizer, while it is alive."""
        self._base = keras.optimizers.Optimizer
        # Not as an optimizer of the program's defines it: that is code of the program's.
        self._variables_of = self._base.variables.fget
        self._hooks.surround(self._base, "__init__", self._made)
        self._hooks.surround(keras.Model, "compile", self._compiled)

    def read(self) -> Mapping[str, float]:
        """Variables of all optimizers that are built and alive, and their bytes."""
        number = size_bytes = 0
        for known in list(self._known.values()):
            optimizer = known.optimizer()
            if optimizer is None:
                continue
            variables = self._variables_of(optimizer)
            if known.variables != len(variables):
                known.variables, known.size_bytes = len(variables), _bytes_of(variables)
            number += known.variables
            size_bytes += known.size_bytes
        return {"optimizer_variables": number, "optimizer_bytes": size_bytes} if number else {}

    def stop(self) -> None:
        """Puts Keras's methods back."""
        self._hooks.remove()

    def _compiled(self, model: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        watch = self._context.stopwatch
        # Keras keeps the traced step here, and `compile` drops it.
        trained = getattr(model, "train_function", None) is not None
        if not (trained and watch.is_mine()):
            yield
            return
        again = names.account(names.TRACING, names.AGAIN)
        call = self._calls.open("compile", (CREATION,), sys._getframe(1), again)
        try:
            yield
        finally:
            self._calls.close(call)

    def _made(self, optimizer: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        if type(optimizer) is self._base:  # Keras looks at one while it saves and loads
            yield
            return
        place = calling_line(sys._getframe(1))
        again = self._context.stopwatch.is_mine() and place in self._places
        self._places.add(place)
        yield from self._time(optimizer, again)
        key, all_known = id(optimizer), self._known
        alive = weakref.ref(optimizer, lambda _: all_known.pop(key, None))
        is_again = again and not self._is_compiling()
        all_known[key] = _LiveOptimizer(alive, is_again)
        self._tell_precision()
        if is_again:
            self._tell_place(place)
        # Slots are made in the class's own `build`, after that of the base class.
        self._hooks.surround(type(optimizer), "build", self._built)

    def _tell_place(self, place: tuple[str, int]) -> None:
        if place not in self._told and len(self._told) < _MOST_PLACES:
            self._told.add(place)
            self._context.emit(Fact(OPTIMIZER_AT, self._source.at(*place)))

    def _is_compiling(self) -> bool:
        """Whether `compile` makes an optimizer: its slots are part of the new train step."""
        return any(CREATION in owner.takes for owner in self._context.stopwatch.owners)

    def _tell_precision(self) -> None:
        """Tells once that the program computes in half precision, whatever loop it has."""
        if not self._precision_is_told and is_half(_policy_in_force()):
            self._precision_is_told = True
            self._context.emit(Fact(HALF_PRECISION, "", {}))

    def _built(self, optimizer: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        known = self._known.get(id(optimizer))
        is_again = known is not None and known.is_again and self._context.stopwatch.is_mine()
        yield from self._time(optimizer, is_again)

    def _time(self, optimizer: Any, again: bool) -> Generator[None, Any, None]:
        watch, clock = self._context.stopwatch, self._context.clock
        if not again or any(names.family(name) in _AROUND for name in watch.opened):
            yield
            return
        began = clock.monotonic_ns()
        watch.open(CREATION)
        try:
            yield
        finally:
            watch.close()
            seconds = (clock.monotonic_ns() - began) / 1e9
            self._context.emit(
                Fact(OPTIMIZER_CREATED, type(optimizer).__name__, {"seconds": seconds})
            )


def _policy_in_force() -> Any:
    """The policy that the program has set, None for Keras's own.

    Keras's public function keeps the policy that it gives: a `floatx` that is set afterwards
    would no longer count.
    """
    state = sys.modules.get("keras.src.backend.common.global_state")
    with contextlib.suppress(Exception):  # another Keras keeps it elsewhere
        return state.get_global_attribute("dtype_policy") if state is not None else None
    return None


def _bytes_of(variables: Iterable[Any]) -> int:
    import numpy as np
    import tensorflow as tf

    return sum(
        int(np.prod(variable.shape)) * tf.as_dtype(variable.dtype).size for variable in variables
    )
