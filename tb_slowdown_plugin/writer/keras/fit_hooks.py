"""What of Keras's `CallbackList` is hooked during one `fit`."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

from tb_slowdown_plugin.collectors.hooks.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surrounding
from tb_slowdown_plugin.collectors.keras.callbacks import (
    METHODS,
    SiblingTimer,
    SiblingTimes,
)
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
            self._first_batch.surround(self._class, _BATCH_BEGIN, self._around(begin_batch))

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
        if before is not None or after is not None or siblings is not None:
            self._hooks.surround(self._class, name, self._around(before, after, siblings))

    def _around(
        self,
        before: Method | None = None,
        after: Method | None = None,
        siblings: SiblingTimes | None = None,
    ) -> Surrounding:
        return _AroundMethod(self._callbacks, before, after, siblings, self._leave)

    def _leave(self, error: Exception) -> None:
        self.remove()
        self._fail(error)


class _AroundMethod(Surrounding):
    """Tells of a method of one list; those of others pass by."""

    __slots__ = ("_after", "_before", "_leave", "_siblings", "_watched")

    def __init__(
        self,
        watched: weakref.ref[Any],
        before: Method | None,
        after: Method | None,
        siblings: SiblingTimes | None,
        leave: Callable[[Exception], None],
    ) -> None:
        self._watched = watched
        self._before = before
        self._after = after
        self._siblings = siblings
        self._leave = leave

    def begin(self, callbacks: Any, *args: Any, **_: Any) -> Any:
        """Tells that it begins; gives False where it is a method of another list."""
        if self._watched() is not callbacks:
            return False
        if self._before is not None:
            try:
                self._before(*args)
            except Exception as error:  # noqa: BLE001 - the training must not see it
                self._has_failed(error)
        return None if self._siblings is None else self._siblings.begin(callbacks)

    def end(self, begun: Any, result: Any) -> Any:
        """Tells that it has ended."""
        if begun is not False:
            if begun is not None:
                assert self._siblings is not None
                self._siblings.end(begun, result)
            if self._after is not None:
                try:
                    self._after()
                except Exception as error:  # noqa: BLE001 - the training must not see it
                    self._has_failed(error)
        return result

    def fail(self, begun: Any, error: BaseException) -> None:
        """An exception of a callback passes, and the step it was raised in does not count.

        The next batch or the end of the epoch cancels it.
        """
        if begun:
            assert self._siblings is not None
            self._siblings.fail(begun, error)

    def _has_failed(self, error: Exception) -> None:
        if isinstance(error, UsageError):
            raise error
        self._leave(error)
