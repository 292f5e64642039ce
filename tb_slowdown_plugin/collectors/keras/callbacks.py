"""Times the other Keras callbacks of a `fit`, each by its class name.

Cost: 1 us a call of Keras's callback list in which a callback has something to do.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surround
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
_TAKES: Final = frozenset(
    (
        names.CALL,
        names.COMPUTING,
        names.INPUT_WAIT,
        names.PREDICT,
        names.account(names.TRACING, names.AGAIN),
        names.account(names.TRACING, names.LIBRARY),
        names.account(names.FIRST_EXECUTION, names.AGAIN),
        names.account(names.FIRST_EXECUTION, names.LIBRARY),
    )
)
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
        self._accounts: dict[str, dict[int, str]] = {name: {} for name in METHODS}
        for callback in callbacks:
            for name in METHODS:
                if _has_own(callback, base, name):
                    self._accounts[name][id(callback)] = account_of(type(callback))

    def around(self, name: str) -> Surround | None:
        """Books what each sibling takes in a method of `CallbackList`.

        Args:
          name: One of `METHODS`.

        Returns:
          What is to be done around the method; None where no sibling has one of its own.
        """
        accounts, watch = self._accounts[name], self._watch

        def timed(callbacks: Any) -> Generator[None, Any, None]:
            if not watch.is_mine():
                yield
                return
            siblings, depth = callbacks.callbacks, watch.depth
            callbacks.callbacks = _Timed(siblings, accounts, watch)
            try:
                yield
            finally:
                callbacks.callbacks = siblings
                while watch.depth > depth:
                    watch.close()

        return timed if accounts else None


class _Timed:
    """A list of callbacks; who iterates over it opens the account of each in turn."""

    def __init__(self, siblings: list[Any], accounts: dict[int, str], watch: Stopwatch) -> None:
        self._siblings = siblings
        self._accounts = accounts
        self._watch = watch

    def __iter__(self) -> Iterator[Any]:
        watch = self._watch
        for callback in self._siblings:
            account = self._accounts.get(id(callback))
            if account is None or not watch.is_mine():
                yield callback
                continue
            watch.open(account, owner=Owner(account, _TAKES))
            depth = watch.depth
            yield callback
            while watch.depth >= depth:
                watch.close()

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
