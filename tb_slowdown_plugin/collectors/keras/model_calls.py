"""Calls of Keras's `predict`, `fit`, and `evaluate` in a loop: their seconds beside computing.

Such a call makes a dataset of its arguments, traces the functions of that dataset, starts
its threads and stops them again: 20 to 60 ms, for a model that computes the batch in 1 ms.
Calls of `evaluate` outside of `fit`'s own are validation.

Cost: 10 us a call, 1 us a batch; 100 us a call of `fit`, and nothing in its own steps; 15 us a call
of `evaluate`.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.names import VALIDATION
from tb_slowdown_plugin.collectors.base import Context, find_keras
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.keras.user_calls import PRICE, OpenCall, UserCalls

_BY_FIT: Final = "_use_cached_eval_dataset"
"""Argument by which `fit` calls it (Keras 3.0 to 3.15): that validation is told by callbacks."""


class _ModelCall:
    """A call of a model, and what is called around each of its batches.

    Args:
      by: Name of the collector.
      context: Of the collector.
      batch: Keras's word for it in the methods of callbacks: "predict_batch".
      inside: Account of what the model computes.
    """

    def __init__(self, by: str, context: Context, batch: str, inside: str) -> None:
        self._watch = context.stopwatch
        self._batch = batch
        self._inside = inside
        self._model: Any = None
        self._hooks = MethodHooks(by, context.failure_of(by))
        self.call: OpenCall | None = None
        self.calls = UserCalls(context)

    def hook(self) -> None:
        """Sees batches from now on."""
        callbacks = find_keras().callbacks.CallbackList
        self._hooks.surround(callbacks, f"on_{self._batch}_begin", self._begins)
        self._hooks.surround(callbacks, f"on_{self._batch}_end", self._ends)

    def unhook(self) -> None:
        """Sees no more of them."""
        self._hooks.remove()

    def timed(self, name: str, model: Any, takes: Any) -> Generator[None, Any, None]:
        """Around the call itself."""
        self._model = model
        self.call = call = self.calls.open(name, takes, sys._getframe(2))
        try:
            yield
        finally:
            self.call = self._model = None
            self.calls.close(call)

    def _begins(self, callbacks: Any, *_: Any) -> Generator[None, Any, None]:
        yield
        call = self._call_of(callbacks)
        if call is None:
            return
        if not self.calls.is_open(call):  # a `fit` whose batches are the steps
            self.call = None
            self.unhook()
        elif self._watch.depth == call.owner.depth:
            call.batches += 1
            self._watch.open(self._inside)

    def _ends(self, callbacks: Any, *_: Any) -> Generator[None, Any, None]:
        call = self._call_of(callbacks)
        while call is not None and self._watch.depth > call.owner.depth:
            self._watch.close()
        yield

    def _call_of(self, callbacks: Any) -> OpenCall | None:
        """The call under way, where these are the callbacks of its model."""
        is_its = self.call is not None and callbacks.model is self._model
        return self.call if is_its and self._watch.is_mine() else None


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
        self._watch = context.stopwatch
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.surround(keras.Model, "predict", self._timed)
        self._batches = _ModelCall(self.name, context, "predict_batch", names.COMPUTING)
        self._batches.hook()

    def stop(self) -> None:
        """Puts Keras's methods back."""
        self._batches.unhook()
        self._hooks.remove()

    def _timed(self, model: Any, *args: Any, **kwargs: Any) -> Generator[None, Any, None]:
        watch = self._watch
        x = args[0] if args else kwargs.get("x")
        is_price = watch.is_mine() and not watch.is_open(VALIDATION)
        if is_price and self._batches.call is None and _is_made_a_dataset(x):
            yield from self._batches.timed(names.PREDICT, model, PRICE)
        else:
            yield


def _is_made_a_dataset(x: Any) -> bool:
    return hasattr(x, "shape") or isinstance(x, list | tuple | dict)


class FitCalls:
    """Books calls of `fit` inside of a step, or in a callback, by the line that calls it.

    What its model computes, and what is traced of the model, stays where it was; so does
    waiting for a dataset of the user's. Of a `fit` whose batches are the steps, it is what
    passes before the training begins.
    """

    name = "fit_calls"

    def start(self, context: Context) -> None:
        """Hooks `fit` of Keras's models; its batches only while one is a call.

        Raises:
          Unavailable: Keras has not been imported, so there are no models of its.
        """
        keras = find_keras()
        self._watch = context.stopwatch
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.surround(keras.Model, "fit", self._timed)
        self._batches = _ModelCall(self.name, context, "train_batch", names.COMPUTING)

    def stop(self) -> None:
        """Puts Keras's methods back."""
        self._batches.unhook()
        self._hooks.remove()

    def _timed(self, model: Any, *args: Any, **kwargs: Any) -> Generator[None, Any, None]:
        watch, batches = self._watch, self._batches
        if not watch.is_mine() or watch.is_open(VALIDATION) or batches.call is not None:
            yield
            return
        x = args[0] if args else kwargs.get("x")
        takes = PRICE if _is_made_a_dataset(x) else PRICE - {names.INPUT_WAIT}
        batches.hook()
        try:
            yield from batches.timed("fit", model, takes)
        finally:
            batches.unhook()


class Evaluations:
    """Books calls of `evaluate` in the training thread as validation.

    In a loop of one's own, or in a callback: it is no part of a training step, and is
    lost only where it grows. What the call costs beside its batches stands with its line, and
    what TensorFlow traces of the model in it keeps its own account.
    """

    name = "evaluations"

    def start(self, context: Context) -> None:
        """Hooks `evaluate` of Keras's models, and what is called around each of its batches.

        Raises:
          Unavailable: Keras has not been imported, so there are no models of its.
        """
        model_class = find_keras().Model
        self._watch = context.stopwatch
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._hooks.surround(model_class, "evaluate", self._timed)
        self._batches = _ModelCall(self.name, context, "test_batch", VALIDATION)
        self._batches.hook()

    def stop(self) -> None:
        """Puts Keras's methods back."""
        self._batches.unhook()
        self._hooks.remove()

    def _timed(self, model: Any, *_: Any, **given: Any) -> Generator[None, Any, None]:
        watch = self._watch
        if given.get(_BY_FIT) and watch.is_mine() and watch.owners:  # of a `fit` that is a call
            watch.open(names.COMPUTING)
            try:
                yield
            finally:
                watch.close()
            return
        if given.get(_BY_FIT) or not watch.is_mine() or watch.is_open(VALIDATION):
            yield
            return
        watch.open(VALIDATION)
        depth = watch.depth
        try:
            # Its data are waited for in an account of their own.
            yield from self._batches.timed("evaluate", model, PRICE - {names.INPUT_WAIT})
        finally:
            while watch.depth >= depth:
                watch.close()
