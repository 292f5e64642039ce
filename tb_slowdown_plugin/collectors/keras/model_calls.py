"""Calls of Keras's `predict` on a few batches: what each takes beside computing them.

Such a call makes a dataset of its arguments, traces the functions of that dataset, starts
its threads and stops them again: 20 to 60 ms, for a model that computes the batch in 1 ms.

Cost: 10 us a call, 1 us a batch.

Validation by calls of Keras's `evaluate` outside of `fit`'s own.

Cost: 4 us a call.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.names import VALIDATION
from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch

_FEW: Final = 3
"""Batches in a call, up to which all around them is the cost of having called `predict`. With
more, its dataset is an input pipeline like any other."""

_PARTS: Final = (
    names.INPUT_WAIT,
    names.account(names.INPUT_WAIT, names.END_OF_PASS),
    names.account(names.TRACING, names.LIBRARY),
    names.account(names.FIRST_EXECUTION, names.LIBRARY),
)
"""What the dataset of a call costs, wherever else such seconds go."""

_BY_FIT: Final = "_use_cached_eval_dataset"
"""Argument by which `fit` calls it (Keras 3.0 to 3.15): that validation is told by callbacks."""


@dataclass(slots=True)
class _Call:
    model: Any
    account: str
    before: dict[str, int]
    waited_ns: int
    """What was booked when it began, in accounts and as waiting."""
    batches: int = 0


class PredictCalls:
    """Books calls of `predict` in the training thread by the line that calls it.

    Only those with arrays or tensors, of which Keras makes a dataset. The time in
    which the model computes stays where it was, and what is traced of the model itself.
    A call inside validation is validation.
    """

    name = "predict_calls"

    def start(self, context: Context) -> None:
        """Hooks `predict` of Keras's models, and what is called around each of its batches.

        Raises:
          Unavailable: Keras has not been imported, so there are no models of its.
        """
        keras = find_keras()
        self._context = context
        self._places = SourcePlaces.of_process()
        self._call: _Call | None = None
        self._hooks = MethodHooks(self.name)
        self._hooks.surround(keras.Model, "predict", self._timed)
        callbacks = keras.callbacks.CallbackList
        self._hooks.surround(callbacks, "on_predict_batch_begin", self._begins)
        self._hooks.surround(callbacks, "on_predict_batch_end", self._ends)

    def stop(self) -> None:
        """Puts Keras's methods back."""
        self._hooks.remove()

    def _timed(self, model: Any, *args: Any, **kwargs: Any) -> Generator[None, Any, None]:
        watch = self._context.stopwatch
        x = args[0] if args else kwargs.get("x")
        is_price = watch.is_mine() and not watch.is_open(names.VALIDATION)
        if not (is_price and self._call is None and _is_made_a_dataset(x)):
            yield
            return
        place = self._places.at(*calling_line(sys._getframe(1)))
        account = names.account(names.PREDICT, place)
        watch.open(account)
        self._call = made = _Call(model, account, dict(watch.booked), watch.waited_ns)
        try:
            yield
        finally:
            self._call = None
            if watch.innermost == account:
                watch.close()
            if made.batches <= _FEW:
                _gather(watch, made)

    # The model's own work on a batch is not the cost of `predict`.

    def _begins(self, callbacks: Any, *_: Any) -> Generator[None, Any, None]:
        yield
        call = self._call_of(callbacks)
        if call is not None:
            call.batches += 1
            if self._context.stopwatch.innermost == call.account:
                self._context.stopwatch.close()

    def _ends(self, callbacks: Any, *_: Any) -> Generator[None, Any, None]:
        call = self._call_of(callbacks)
        if call is not None and call.batches <= _FEW:
            self._context.stopwatch.open(call.account)
        yield

    def _call_of(self, callbacks: Any) -> _Call | None:
        """The call under way, where these are the callbacks of its model."""
        call = self._call
        is_its = call is not None and callbacks.model is call.model
        return call if is_its and self._context.stopwatch.is_mine() else None


def _is_made_a_dataset(x: Any) -> bool:
    return hasattr(x, "shape") or isinstance(x, list | tuple | dict)


def _gather(watch: Stopwatch, call: _Call) -> None:
    """What its dataset has cost is a cost of the call, too."""
    booked = watch.booked
    # Its batches are fetched where the model's own work is: nothing is open there.
    waited_ns = max(0, watch.waited_ns - call.waited_ns)
    watch.waited_ns -= waited_ns
    booked[call.account] = booked.get(call.account, 0) + waited_ns
    for name in _PARTS:
        took_ns = booked.get(name, 0) - call.before.get(name, 0)
        if took_ns > 0:
            booked[name] -= took_ns
            booked[call.account] = booked.get(call.account, 0) + took_ns


class Evaluations:
    """Books calls of `evaluate` in the training thread as validation.

    In a loop of one's own, or in a callback: it is no part of a training step, and is
    lost only where it grows. What TensorFlow traces in it keeps its own account.
    """

    name = "evaluations"

    def start(self, context: Context) -> None:
        """Replaces `evaluate` of Keras's models.

        Raises:
          Unavailable: Keras has not been imported, so there are no models of its.
        """
        model_class = find_keras().Model
        self._watch = context.stopwatch
        self._hooks = MethodHooks(self.name)
        self._hooks.surround(model_class, "evaluate", self._timed)

    def stop(self) -> None:
        """Puts Keras's method back."""
        self._hooks.remove()

    def _timed(self, *_: Any, **given: Any) -> Generator[None, Any, None]:
        watch = self._watch
        if given.get(_BY_FIT) or not watch.is_mine() or watch.is_open(VALIDATION):
            yield
            return
        watch.open(VALIDATION)
        depth = watch.depth
        try:
            yield
        finally:
            while watch.depth >= depth:
                watch.close()
