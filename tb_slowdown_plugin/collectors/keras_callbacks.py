"""Times the other Keras callbacks of a `fit`, each by its class name.

Cost: 0.6 us a call of a method that a callback really has, 8 us between real steps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, Final

from tb_slowdown_plugin.collectors.instance_hooks import InstanceHooks, Method
from tb_slowdown_plugin.collectors.stopwatch import Stopwatch
from tb_slowdown_plugin.records import names

METHODS: Final = tuple(
    f"on_{what}_{when}"
    for what in ("train", "epoch", "train_batch", "test", "test_batch", "batch")
    for when in ("begin", "end")
)

_FAMILIES: Final = {
    "ModelCheckpoint": names.CHECKPOINT,
    "BackupAndRestore": names.CHECKPOINT,
    "OrbaxCheckpoint": names.CHECKPOINT,
    "TensorBoard": names.SUMMARY,
}
"""Keras's own callbacks that save or write summaries; their subclasses too."""


class SiblingTimer:
    """Books the time in other callbacks' methods; an exception of theirs passes.

    Keras runs the batch methods of callbacks that allow it in other threads;
    what runs there costs the training thread nothing and is not booked.
    """

    def __init__(self, stopwatch: Stopwatch) -> None:
        self._watch = stopwatch
        self._hooks = InstanceHooks()

    def time(self, callbacks: Iterable[Any], base: type) -> None:
        """Times the methods that these callbacks have of their own.

        Args:
          callbacks: The siblings.
          base: Keras's `Callback`, whose empty methods are not worth a hook.
        """
        for callback in callbacks:
            account = account_of(type(callback))
            for name in METHODS:
                if name in vars(callback) or _is_overridden(type(callback), base, name):
                    self._hooks.replace(callback, name, functools.partial(self._timed, account))

    def stop(self) -> None:
        """Gives the callbacks their own methods back."""
        self._hooks.remove()

    def _timed(self, account: str, method: Method) -> Method:
        watch = self._watch

        @functools.wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not watch.is_mine():
                return method(*args, **kwargs)
            watch.open(account)
            try:
                return method(*args, **kwargs)
            finally:
                watch.close()

        return call


def account_of(callback: type) -> str:
    """Where a callback's time goes.

    Example:
      >>> class ModelCheckpoint: ...
      >>> class Best(ModelCheckpoint): ...
      >>> class Plotter: ...
      >>> account_of(Best), account_of(Plotter)
      ('checkpoint:Best', 'callback:Plotter')
    """
    for ancestor in callback.__mro__:
        if ancestor.__name__ in _FAMILIES:
            return names.account(_FAMILIES[ancestor.__name__], callback.__name__)
    return names.account(names.CALLBACK, callback.__name__)


def _is_overridden(callback: type, base: type, name: str) -> bool:
    method: Callable[..., Any] | None = getattr(callback, name, None)
    return method is not None and method is not getattr(base, name, None)
