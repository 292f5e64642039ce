"""Follows each `fit` of a program that has no callback of ours."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from typing import Any

from tb_slowdown_plugin.collectors.base import (
    Unavailable,
    loaded_keras,
)
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.writer.monitor import Monitor


class Fits:
    """Makes steps of the batches of `fit`.

    Args:
      begin: Called when a `fit` begins, with the line that called it.
      fail: Is told what has failed here; nothing is hooked any more then.
    """

    def __init__(self, begin: Callable[[str], None], fail: Callable[[Exception], None]) -> None:
        self._begin = begin
        self._fail = fail
        self._hooks = MethodHooks("tbslow run", self._leave)
        self._places = SourcePlaces.of_process()
        self.monitor: Monitor | None = None

    def install(self, monitor: Monitor) -> None:
        """Hooks Keras's list of callbacks, where Keras is there."""
        self.monitor = monitor
        keras = loaded_keras()
        if keras is not None:
            with contextlib.suppress(Unavailable):
                self._hooks.surround(
                    keras.callbacks.CallbackList, "on_train_begin", self._around_begin
                )

    def remove(self) -> None:
        """Takes the hook out."""
        self._hooks.remove()

    def _around_begin(self, callbacks: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        self._follow(callbacks, calling_line(sys._getframe(1)))
        yield

    def _leave(self, error: Exception) -> None:
        self.remove()
        self._fail(error)

    def _follow(self, callbacks: Any, line: tuple[str, int]) -> None:
        from tb_slowdown_plugin.writer.keras import callback

        watching = self.monitor
        if watching is None or watching.stopped or not watching.recorder.is_mine():
            return
        if any(isinstance(each, callback.SlowdownCallback) for each in callbacks.callbacks):
            return  # the program is in charge
        if callback.is_fitting():
            return  # a fit inside a fit: its batches are no steps
        self._begin(f"fit ({self._places.at(*line)})")
        model = getattr(callbacks, "model", None)
        params = getattr(callbacks, "params", None)
        callback.watch_fit(watching, callbacks, model, params or {})
