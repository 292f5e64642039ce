"""`SlowdownCallback`: the monitor for `model.fit`."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from tb_slowdown_plugin.collectors.keras_callbacks import SiblingTimer
from tb_slowdown_plugin.collectors.method_hooks import Method, MethodHooks
from tb_slowdown_plugin.writer import monitor
from tb_slowdown_plugin.writer.keras_steps import FitSteps

try:
    from keras.callbacks import Callback, CallbackList
    from keras.version import __version__ as _version
except ImportError as error:
    raise ImportError(
        "tbslow.keras needs Keras 3, which comes with TensorFlow from 2.16 on: "
        'pip install "tb-slowdown-plugin[tf]"'
    ) from error
if int(_version.partition(".")[0]) < 3:
    raise ImportError(
        f"tbslow.keras needs Keras 3, and this is Keras {_version}: pip install -U keras"
    )

_own: tuple[monitor.Monitor, str, FitSteps] | None = None
"""The monitor that a callback has started, its logdir, and its steps."""


class SlowdownCallback(Callback):  # type: ignore[misc] # Keras is untyped
    """Watches `model.fit`: each batch is a step, each epoch an epoch.

    Where no monitor is active, it starts one when training begins. That one
    goes on after `fit`, so that further calls, with this callback or another
    one for the same logdir, add their steps to the same run, and what happens
    between them is seen; another logdir, `tbslow.start` or the end of the
    program stop it. Every `fit` ends with everything written.

    With `steps_per_execution=n` a step is one execution of n batches, and its
    items are its batches. Validation, the other callbacks, checkpoints and
    Keras's own work between two epochs are accounts of their own. `evaluate`
    and `predict` outside `fit` are not steps.

    Where Keras could run the other callbacks' batch methods beside the
    training, it still can: this callback has none.

    Args:
      logdir: The directory that TensorBoard is given, or one run in it. Not
        used while a monitor of `tbslow.start` is active.
      disable: As in `tbslow.start`.

    Example:
      >>> import keras, numpy, tempfile, tbslow
      >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
      >>> model.compile("sgd", "mse")
      >>> x, y = numpy.zeros((8, 2)), numpy.zeros((8, 1))
      >>> callback = tbslow.keras.SlowdownCallback(tempfile.mkdtemp())
      >>> history = model.fit(x, y, batch_size=4, verbose=0, callbacks=[callback])
      >>> tbslow.active().recorder.rows
      2
    """

    def __init__(self, logdir: str | os.PathLike[str], *, disable: Iterable[str] = ()) -> None:
        super().__init__()
        self._logdir = logdir
        self._disable = disable
        self._hooks = MethodHooks()
        self._siblings: SiblingTimer | None = None
        self._monitor: monitor.Monitor | None = None
        self._counted = False

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Starts or finds the monitor and hooks into this `fit`."""
        self._unhook()
        self._monitor, steps = _find(self._logdir, self._disable)
        callbacks = _calling_list()
        if callbacks is None:
            self._monitor.report_failure(
                "keras", "on_train_begin was not called by a keras.callbacks.CallbackList"
            )
            return
        steps.begin_fit(
            getattr(self.model, "steps_per_execution", 1), (self.params or {}).get("steps")
        )
        self._counted = False
        self._siblings = SiblingTimer(self._monitor.recorder.stopwatch)
        self._siblings.time([other for other in callbacks.callbacks if other is not self], Callback)
        self._hook(callbacks, steps)

    def _hook(self, callbacks: Any, steps: FitSteps) -> None:
        def begin_batch(batch: int) -> None:
            if not self._counted:  # BackupAndRestore has restored the optimizer by now
                self._counted = True
                steps.count_from(_iterations(self.model))
            steps.begin_batch(batch)

        before: dict[str, Callable[..., None]] = {
            "on_epoch_begin": steps.begin_epoch,
            "on_train_batch_begin": begin_batch,
            "on_test_begin": steps.begin_validation,
            "on_epoch_end": steps.leave_batches,
        }
        after: dict[str, Callable[..., None]] = {
            "on_train_batch_end": steps.end_batch,
            "on_test_end": steps.end_validation,
            "on_train_end": functools.partial(self._end_fit, steps),
        }
        for name, tell in before.items():
            self._hooks.replace(callbacks, name, functools.partial(_told_before, tell))
        for name, tell in after.items():
            failed = steps.fail_batch if name == "on_train_batch_end" else None
            self._hooks.replace(callbacks, name, functools.partial(_told_after, tell, failed))

    def _end_fit(self, steps: FitSteps) -> None:
        steps.end_fit()
        self._unhook()
        if self._monitor is not None:
            _release(self._monitor)
            self._monitor.flush()

    def _unhook(self) -> None:
        self._hooks.remove()
        if self._siblings is not None:
            self._siblings.stop()
            self._siblings = None
