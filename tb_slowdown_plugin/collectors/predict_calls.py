"""Calls of Keras's `predict` on a few batches: what each takes beside computing them.

Such a call makes a dataset of its arguments, traces the functions of that dataset, starts
its threads and stops them again: 20 to 60 ms, for a model that computes the batch in 1 ms.

Cost: 10 us a call.
"""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import Any, Final

from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.keras_module import find_keras
from tb_slowdown_plugin.collectors.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.collectors.source_location import SourcePlaces, calling_line
from tb_slowdown_plugin.collectors.stopwatch import Stopwatch
from tb_slowdown_plugin.records import names

_FEW: Final = 3
"""Batches in a call, up to which all around them is the price of having called `predict`. With
more, its dataset is an input pipeline like any other."""
_PARTS: Final = (
    names.INPUT_WAIT,
    names.account(names.INPUT_WAIT, names.END_OF_PASS),
    names.account(names.TRACING, names.LIBRARY),
    names.account(names.FIRST_EXECUTION, names.LIBRARY),
)
"""What the dataset of a call costs, wherever else such seconds go."""


@dataclass(slots=True)
class _Call:
    model: Any
    account: str
    before: dict[str, int]
    """What was booked when it began."""
    batches: int = 0
    function: Any = None
    """What computes a batch, as Keras has made it."""


class PredictCalls:
    """Books calls of `predict` in the training thread by the line that calls it.

    Only those with arrays or tensors, of which Keras makes a dataset. The time in
    which the model computes stays where it was, and what is traced of the model itself.
    A call inside validation is validation.
    """

    name = "predict_calls"

    def start(self, context: Context) -> None:
        """Replaces `predict` of Keras's models.

        Raises:
          Unavailable: Keras has not been imported, so there are no models of its.
        """
        model_class = find_keras().Model
        self._context = context
        self._places = SourcePlaces.of_process()
        self._call: _Call | None = None
        self._hooks = MethodHooks(self.name)
        self._hooks.replace(model_class, "predict", self._timed)
        self._hooks.replace(model_class, "make_predict_function", self._made)

    def stop(self) -> None:
        """Puts Keras's methods back."""
        self._hooks.remove()

    def _timed(self, predict: Method) -> Method:
        @functools.wraps(predict)
        def call(model: Any, *args: Any, **kwargs: Any) -> Any:
            watch = self._context.stopwatch
            x = args[0] if args else kwargs.get("x")
            is_price = watch.is_mine() and not watch.is_open(names.VALIDATION)
            if not (is_price and self._call is None and _is_made_a_dataset(x)):
                return predict(model, *args, **kwargs)
            place = self._places.at(*calling_line(sys._getframe(1)))
            account = names.account(names.PREDICT, place)
            watch.open(account)
            self._call = made = _Call(model, account, dict(watch.booked))
            try:
                return predict(model, *args, **kwargs)
            finally:
                self._call = None
                if made.function is not None:
                    model.predict_function = made.function
                if watch.innermost == account:
                    watch.close()
                if made.batches <= _FEW:
                    _gather(watch, made)

        return call

    def _made(self, make_predict_function: Method) -> Method:
        @functools.wraps(make_predict_function)
        def make(model: Any, *args: Any, **kwargs: Any) -> Any:
            function = make_predict_function(model, *args, **kwargs)
            call = self._call
            if call is None or call.model is not model:
                return function
            call.function = model.predict_function
            model.predict_function = self._computing(call)
            return function

        return make

    def _computing(self, call: _Call) -> Method:
        """The model's own work is not the price of `predict`."""
        watch, function = self._context.stopwatch, call.function

        def compute(*args: Any) -> Any:
            call.batches += 1
            if watch.innermost != call.account:
                return function(*args)
            watch.close()
            try:
                return function(*args)
            finally:
                if call.batches <= _FEW:
                    watch.open(call.account)

        return compute


def _is_made_a_dataset(x: Any) -> bool:
    return hasattr(x, "shape") or isinstance(x, list | tuple | dict)


def _gather(watch: Stopwatch, call: _Call) -> None:
    """What its dataset has cost is the price of the call, too."""
    booked = watch.booked
    for name in _PARTS:
        took_ns = booked.get(name, 0) - call.before.get(name, 0)
        if took_ns > 0:
            booked[name] -= took_ns
            booked[call.account] = booked.get(call.account, 0) + took_ns
