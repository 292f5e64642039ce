"""Passes of a Python loop over a `tf.data` dataset: epochs, the items of a step, the first wait.

What `tbslow.data` does for the dataset that it is given, for each that the program iterates over.

Cost: 1 us a batch.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Generator
from typing import Any

from tb_slowdown_plugin.catalog.names import INPUT_WAIT
from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.writer.steps.data_pass import DataPass
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import Opening


class Passes:
    """Hooks the iterator of `tf.data` that Python loops use.

    Args:
      recorder: Of the monitor.
      step: Called around each fetch where a batch is a step: with True after one, and with
        False before the next.
      fail: Is told what has failed here; nothing is hooked any more then.
    """

    def __init__(
        self,
        recorder: Recorder,
        step: Callable[[bool], None] | None,
        fail: Callable[[Exception], None],
    ) -> None:
        from tensorflow.python.eager import context

        self.first_wait: Opening | None = None
        """When the pass over the data that may be the first of the training began."""
        self._recorder = recorder
        self._step = step
        self._fail = fail
        self._executing_eagerly = context.executing_eagerly
        self._passes: weakref.WeakKeyDictionary[Any, DataPass] = weakref.WeakKeyDictionary()
        self._hooks = MethodHooks("tbslow run", self._leave)

    def install(self) -> None:
        """Hooks the methods that fetch: of a dataset, and of one that a strategy distributes."""
        from tensorflow.python.data.ops import iterator_ops
        from tensorflow.python.distribute import input_lib

        with contextlib.suppress(Unavailable):
            self._hooks.surround(iterator_ops.OwnedIterator, "__next__", self._around)
        distributed = getattr(input_lib, "DistributedIteratorBase", None)
        with contextlib.suppress(Unavailable):
            self._hooks.surround(distributed, "__next__", self._timed)

    def remove(self) -> None:
        """Takes the hook out."""
        self._hooks.remove()

    def _around(self, iterator: Any) -> Generator[None, Any, None]:
        if not self._is_training_thread():
            yield
            return
        self._guarded(self._before, iterator)
        batch = yield
        self._guarded(self._after, iterator, batch)

    def _timed(self, iterator: Any) -> Generator[None, Any, None]:
        """Of a distributed dataset, whose waits no collector sees."""
        if not self._is_training_thread():
            yield
            return
        self._guarded(self._before, iterator)
        watch = self._recorder.stopwatch
        watch.open(INPUT_WAIT)
        depth = watch.depth
        try:
            batch = yield
        finally:
            while watch.depth >= depth:
                watch.close()
        self._guarded(self._after, iterator, batch)

    def _is_training_thread(self) -> bool:
        return self._executing_eagerly() and self._recorder.is_mine()

    def _before(self, iterator: Any) -> None:
        recorder = self._recorder
        if self._step is not None:
            self._step(False)
        found = self._passes.get(iterator)
        if found is not None:
            found.note_fetch()
            return
        self._passes[iterator] = DataPass(recorder)
        if not recorder.is_begun and recorder.is_mine():
            self.first_wait = recorder.mark()

    def _after(self, iterator: Any, batch: Any) -> None:
        found = self._passes.get(iterator)
        if found is None:
            return
        found.note_batch(batch)
        if self._step is not None:
            self._step(True)

    def _guarded(self, do: Callable[..., Any], *args: Any) -> None:
        try:
            do(*args)
        except Exception as error:  # noqa: BLE001 - the training must not see it
            self._leave(error)

    def _leave(self, error: Exception) -> None:
        self.remove()
        self._fail(error)
