"""Saving checkpoints and models, without the user marking it.

Cost: 2 us a save, and the sizes of the files that it wrote.
"""

from __future__ import annotations

import functools
import glob
import os
import sys
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import LATER_GRAPHS
from tb_slowdown_plugin.collectors.base import Context, loaded_keras
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces
from tb_slowdown_plugin.collectors.timing.stopwatch import Owner
from tb_slowdown_plugin.records.types import Fact

_OURS: Final = "tb_slowdown_plugin"
"""How the names of the resources begin that graphs add their waits to."""

_MOST_CALLERS: Final = 16
"""Lines that save, of which a record has the place."""

_TAKES: Final = LATER_GRAPHS | {names.GC}
"""What happens in a save is its own: an export traces the functions that it writes."""

_REMEDY: Final = (
    "A ConcreteFunction that was traced under the slowdown monitor adds its waits to a resource of "
    'the monitor. Save the tf.function, or trace it under a monitor with disable=["input_wait", '
    '"communication", "xla_compilation"].'
)


class Checkpoints:
    """Books calls that save to `checkpoint:<who>` and records each with its bytes.

    Where one saver calls another (a manager its checkpoint, a Keras callback
    its model) the outer one is named. Keras's are seen where Keras was imported
    when the monitor was started. Asynchronous checkpoints cost the training
    thread only what the call takes, so only that is booked.
    """

    name = "checkpoints"

    def start(self, context: Context) -> None:
        """Replaces the methods that save."""
        import tensorflow as tf

        self._context = context
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        self._savers: set[str] = set()
        self._places = SourcePlaces.of_process()
        self._saves: dict[tuple[str, str, bool], tuple[int, int]] = {}
        train, train_v1 = tf.train, tf.compat.v1.train
        for owner, method, saver in (
            (train.CheckpointManager, "save", "CheckpointManager"),
            (train.Checkpoint, "save", "tf.train.Checkpoint"),
            (train.Checkpoint, "write", "tf.train.Checkpoint"),
            (train_v1.Saver, "save", "tf.compat.v1.train.Saver"),
            (tf.saved_model, "save", "tf.saved_model"),
        ):
            self._hook(owner, method, saver)
        keras = loaded_keras()
        if keras is not None:
            for method in ("save", "save_weights"):
                self._hook(keras.Model, method, f"model.{method}")

    def _hook(self, owner: Any, method: str, saver: str) -> None:
        self._savers.add(saver)
        self._hooks.surround(owner, method, functools.partial(self._timed, saver))

    def stop(self) -> None:
        """Puts the methods back."""
        self._hooks.remove()

    def _timed(self, saver: str, *args: Any, **kwargs: Any) -> Generator[None, Any, None]:
        watch = self._context.stopwatch
        if not watch.is_mine():
            yield from self._record(saver, args, kwargs)
            return
        around = watch.innermost or ""
        if names.family(around) != names.CHECKPOINT:
            account = names.account(names.CHECKPOINT, saver)
            watch.open(account, owner=Owner(account, _TAKES))
            began_ns = self._context.clock.monotonic_ns()
            try:
                yield from self._record(saver, args, kwargs)
            finally:
                watch.close()
            nanoseconds = self._context.clock.monotonic_ns() - began_ns
            self._tell_caller(sys._getframe(1), saver, nanoseconds)
        elif names.detail(around) in self._savers:  # it records itself
            yield
        else:
            yield from self._record(names.detail(around) or saver, args, kwargs)

    def _tell_caller(self, frame: FrameType, saver: str, nanoseconds: int) -> None:
        """Records each line that saves at its 1st, 2nd, 4th ... save: the first lines."""
        place = self._places.at(*calling_line(frame))
        opened = self._context.stopwatch.opened
        in_callback = any(names.family(account) == names.CALLBACK for account in opened)
        caller = place, saver, in_callback
        if caller not in self._saves and len(self._saves) >= _MOST_CALLERS:
            return
        saves, before_ns = self._saves.get(caller, (0, 0))
        self._saves[caller] = saves, took_ns = saves + 1, before_ns + nanoseconds
        if saves.bit_count() == 1:
            numbers = {"seconds": took_ns / 1e9, f"{names.SAVED_BY}{saver}": float(saves)}
            numbers |= {"in_callback": 1.0} if in_callback else {}
            self._context.emit(Fact(names.CHECKPOINT_FROM, place, numbers))

    def _record(
        self, saver: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[None, Any, None]:
        began = self._context.clock.monotonic_ns()
        try:
            path = yield
        except (AssertionError, KeyError) as error:  # by where the function hangs
            if _OURS in str(error) and hasattr(error, "add_note"):  # Python 3.10 has no notes
                error.add_note(_REMEDY)
            raise
        numbers = {"seconds": (self._context.clock.monotonic_ns() - began) / 1e9}
        place = _find_path(path, args, kwargs)
        if place is not None and "://" not in place:
            self._context.watched.add(str(Path(place).parent))
        if hasattr(args[0] if args else None, "_max_to_keep"):  # a CheckpointManager
            numbers["keeps"] = float(args[0]._max_to_keep or 0)
        written = saved_bytes(place)
        if written is not None:
            numbers["bytes"] = written
        self._context.emit(Fact("checkpoint", saver, numbers))


def saved_bytes(path: str | None) -> int | None:
    """Bytes of the file, or of the files that begin with this prefix; None if there are none.

    A checkpoint "ckpt-1" is `ckpt-1.index` and `ckpt-1.data-00000-of-00001`.
    """
    if not path or "://" in path:
        return None
    try:
        if Path(path).is_file():
            return Path(path).stat().st_size
        prefix = Path(path)
        files = list(prefix.parent.glob(f"{glob.escape(prefix.name)}.*"))
        return sum(file.stat().st_size for file in files) if files else None
    except OSError:
        return None


def _find_path(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """What a saver returns, else what it was given: `model.save(path)` returns nothing."""
    given = kwargs.get("filepath", args[1] if len(args) > 1 else None)
    for candidate in (result, given):
        if isinstance(candidate, str | os.PathLike):
            return os.fspath(candidate)
    return None
