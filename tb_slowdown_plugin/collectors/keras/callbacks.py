"""Times the other Keras callbacks of a `fit`, each by its class name.

Cost: 1 us a call of Keras's callback list in which a callback has something to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import get_ident
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import LATER_GRAPHS
from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surrounding
from tb_slowdown_plugin.collectors.timing.stopwatch import Owner, Stopwatch

METHODS: Final = tuple(
    f"on_{what}_{when}"
    for what in ("train", "epoch", "train_batch", "test", "test_batch")
    for when in ("begin", "end")
)
_CALLED_BY_DEFAULT: Final = {
    "on_train_batch_begin": "on_batch_begin",
    "on_train_batch_end": "on_batch_end",
}

_FAMILIES: Final = {
    "ModelCheckpoint": names.CHECKPOINT,
    "BackupAndRestore": names.CHECKPOINT,
    "OrbaxCheckpoint": names.CHECKPOINT,
    "TensorBoard": names.SUMMARY,
}
"""Keras's own callbacks that save or write summaries; their subclasses too."""
_TAKES: Final = LATER_GRAPHS | {names.CALL, names.COMPUTING, names.INPUT_WAIT, names.PREDICT}
"""What happens in a callback is its own: a `predict`, its data, and what is traced for it. Not
what has a cause of its own wherever it is called (saving, summaries, validation, collections),
nor what the first run of anything takes."""


class SiblingTimer:
    """Books the time in other callbacks' methods; an exception of theirs passes.

    Neither the callbacks nor their classes are touched: while Keras's `CallbackList` goes
    through its callbacks, its list is one that sees when it goes on to the next.
    Keras runs the batch methods of callbacks that allow it in other threads;
    what runs there costs the training thread nothing and is not booked.

    Args:
      stopwatch: Of the training thread.
      callbacks: The siblings.
      base: Keras's `Callback`, whose empty methods are not worth a look.
    """

    def __init__(self, stopwatch: Stopwatch, callbacks: Iterable[Any], base: type) -> None:
        self._watch = stopwatch
        self._owners: dict[str, dict[int, Owner]] = {name: {} for name in METHODS}
        for callback in callbacks:
            for name in METHODS:
                if _has_own(callback, base, name):
                    self._owners[name][id(callback)] = Owner(account_of(type(callback)), _TAKES)

    def around(self, name: str) -> SiblingTimes | None:
        """Books what each sibling takes in a method of `CallbackList`.

        Args:
          name: One of `METHODS`.

        Returns:
          What is to be done around the method; None where no sibling has one of its own.
        """
        owners = self._owners[name]
        return SiblingTimes(self._watch, owners) if owners else None


class SiblingTimes(Surrounding):
    """Books what each sibling takes in one method of `CallbackList`."""

    __slots__ = ("_owners", "_watch")

    def __init__(self, watch: Stopwatch, owners: dict[int, Owner]) -> None:
        self._watch = watch
        self._owners = owners

    def begin(self, callbacks: Any, *_: Any, **__: Any) -> tuple[Any, list[Any], int] | None:
        """Puts a list in place that sees when it is gone through."""
        watch = self._watch
        if get_ident() != watch.thread:
            return None
        siblings = callbacks.callbacks
        callbacks.callbacks = _Timed(siblings, self._owners, watch)
        return callbacks, siblings, len(watch.opened)

    def end(self, begun: tuple[Any, list[Any], int] | None, result: Any) -> Any:
        """Puts the list of callbacks back."""
        if begun is not None:
            callbacks, siblings, depth = begun
            callbacks.callbacks = siblings
            watch = self._watch
            while len(watch.opened) > depth:
                watch.close()
        return result

    def fail(self, begun: tuple[Any, list[Any], int] | None, _: BaseException) -> None:
        """The same."""
        self.end(begun, None)


class _Timed:
    """A list of callbacks; who goes through it opens the account of each in turn."""

    __slots__ = ("_owners", "_siblings", "_watch")

    def __init__(self, siblings: list[Any], owners: dict[int, Owner], watch: Stopwatch) -> None:
        self._siblings = siblings
        self._owners = owners
        self._watch = watch

    def __iter__(self) -> Iterator[Any]:
        return self._watch.each(self._siblings, self._owners)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._siblings, name)

    def __len__(self) -> int:
        return len(self._siblings)

    def __getitem__(self, index: Any) -> Any:
        return self._siblings[index]


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


def _has_own(callback: Any, base: type, name: str) -> bool:
    """Whether a callback does something in this method."""
    if name in vars(callback) or _is_overridden(type(callback), base, name):
        return True
    called = _CALLED_BY_DEFAULT.get(name)
    return called is not None and _has_own(callback, base, called)


def _is_overridden(callback: type, base: type, name: str) -> bool:
    method: Callable[..., Any] | None = getattr(callback, name, None)
    return method is not None and method is not getattr(base, name, None)
