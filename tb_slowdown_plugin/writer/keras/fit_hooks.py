"""What of Keras's `CallbackList` is hooked during one `fit`."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surround
from tb_slowdown_plugin.collectors.keras.callbacks import METHODS, SiblingTimer
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer.keras.fit_steps import FitSteps

_BATCH_BEGIN: Final = "on_train_batch_begin"


class FitHooks:
    """Follows the callback list of one `fit`; the lists of others pass by.

    It holds nothing that `fit` holds: that must not be kept alive where `fit` raises.

    Args:
      callbacks: Keras's list.
      steps: Is told what happens.
      siblings: Times the other callbacks.
      end: Called when `fit` has ended.
      fail: Called once with what has failed here; nothing is hooked any more then.
    """

    def __init__(
        self,
        callbacks: Any,
        steps: FitSteps,
        siblings: SiblingTimer,
        end: Callable[[], None],
        fail: Callable[[Exception], None],
    ) -> None:
        self._class = type(callbacks)
        self._callbacks = weakref.ref(callbacks)
        self._siblings = siblings
        self._fail = fail
        self._hooks = MethodHooks("fit")
        self._first_batch = MethodHooks("fit")

        def begin_epoch(epoch: int, *_: Any) -> None:
            steps.begin_epoch(epoch)
            self._first_batch.remove()
            self._first_batch.surround(self._class, _BATCH_BEGIN, self._before(begin_batch, None))

        def begin_batch(batch: int, *_: Any) -> None:
            if steps.go_on:  # the end of each batch begins the next: one call less in each step
                self._first_batch.remove()
            steps.begin_batch(batch)

        def end_fit(*_: Any) -> None:
            steps.end_fit()
            self.remove()
            end()

        before: dict[str, Method] = {
            "on_epoch_begin": begin_epoch,
            "on_test_begin": lambda *_: steps.begin_validation(),
            "on_epoch_end": lambda *_: steps.leave_batches(),
        }
        after: dict[str, Method] = {
            "on_train_batch_end": steps.end_batch,
            "on_test_end": lambda *_: steps.end_validation(),
            "on_train_end": end_fit,
        }
        for name in METHODS:
            self._surround(name, before.get(name), after.get(name))

    def remove(self) -> None:
        """Takes the hooks out."""
        self._first_batch.remove()
        self._hooks.remove()

    def _surround(self, name: str, before: Method | None, after: Method | None) -> None:
        siblings = self._siblings.around(name)
        if after is not None:
            self._hooks.surround(self._class, name, self._after(after, siblings))
        elif before is not None or siblings is not None:
            self._hooks.surround(self._class, name, self._before(before, siblings))

    # Written out twice: each call between two batches costs, out of a cold cache.

    def _before(self, tell: Method | None, siblings: Surround | None) -> Surround:
        watched = self._callbacks

        def call(callbacks: Any, *args: Any, **_: Any) -> Generator[None, Any, None]:
            if watched() is not callbacks:
                yield
                return
            try:
                if tell is not None:
                    tell(*args)
            except UsageError:
                raise
            except Exception as error:  # noqa: BLE001 - the training must not see it
                self._leave(error)
            if siblings is None:
                yield
            else:
                yield from siblings(callbacks)

        return call

    def _after(self, tell: Method, siblings: Surround | None) -> Surround:
        # An exception of a callback passes, and the step it was raised in does not count:
        # the next batch or the end of the epoch cancels it.
        watched = self._callbacks

        def call(callbacks: Any, *args: Any, **_: Any) -> Generator[None, Any, None]:
            if watched() is not callbacks:
                yield
                return
            if siblings is None:
                yield
            else:
                yield from siblings(callbacks)
            try:
                tell(*args)
            except UsageError:
                raise
            except Exception as error:  # noqa: BLE001 - the training must not see it
                self._leave(error)

        return call

    def _leave(self, error: Exception) -> None:
        self.remove()
        self._fail(error)
