"""`SlowdownCallback`: the monitor for `model.fit`."""

from __future__ import annotations

import functools
import logging
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from tb_slowdown_plugin.collectors.base import (
    import_keras,
)
from tb_slowdown_plugin.collectors.hooks.installed_code import is_known_library
from tb_slowdown_plugin.collectors.keras.callbacks import SiblingTimer
from tb_slowdown_plugin.collectors.keras.fit_options import describe_fit
from tb_slowdown_plugin.errors import reason_of
from tb_slowdown_plugin.records.types import Failure
from tb_slowdown_plugin.writer import monitor
from tb_slowdown_plugin.writer.keras.fit_hooks import FitHooks
from tb_slowdown_plugin.writer.keras.fit_steps import FitSteps

if TYPE_CHECKING:
    from tb_slowdown_plugin.writer.on_slowdown.slowdown_event import SlowdownEvent

Callback: Any = import_keras().callbacks.Callback

_log = logging.getLogger("tb_slowdown_plugin")

_steps: weakref.WeakKeyDictionary[monitor.Monitor, FitSteps] = weakref.WeakKeyDictionary()
"""What each monitor has seen of `fit`, for the numbers to go on."""
_own: tuple[monitor.Monitor, str] | None = None
"""The monitor that a callback has started, and its logdir."""
_fit: _Fit | None = None
"""The `fit` under way, or one that has raised: Keras tells nobody of its end then."""


class SlowdownCallback(Callback):  # type: ignore[misc] # Keras is untyped
    """Monitors `model.fit`: each batch is a step, each epoch an epoch.

    If no monitor is active, it starts one when training begins. That monitor
    stays active after `fit`, so that later calls, with this callback or another
    one for the same logdir, add their steps to the same run. Another logdir,
    `tbslow.start`, or the end of the program stops it. At the end of every
    `fit` everything is written.

    With `steps_per_execution=n` a step is one execution of n batches, and its
    items are its batches. Validation, the other callbacks, checkpoints, and
    Keras's own work between two epochs have their own accounts. `evaluate` and
    `predict` outside `fit` aren't steps.

    A `fit` that raises or is interrupted is closed when the next one begins, or
    with the next `tbslow.start` or step. Its open batch isn't a step.

    Keras can still run the batch methods of the other callbacks asynchronously:
    this callback has none.

    Args:
      logdir: The directory that TensorBoard is given, or one run in it. Not
        used while a monitor of `tbslow.start` is active.
      disable: As in `tbslow.start`.
      profile_on_slowdown: As in `tbslow.start`.
      on_slowdown: As in `tbslow.start`.

    Example:
      >>> import keras, numpy, tempfile, tbslow
      >>> model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
      >>> model.compile("sgd", "mse")
      >>> x, y = numpy.zeros((8, 2)), numpy.zeros((8, 1))
      >>> callback = tbslow.keras.SlowdownCallback(tempfile.mkdtemp())
      >>> history = model.fit(x, y, batch_size=4, verbose=0, callbacks=[callback])
      >>> callback.monitor.recorder.rows
      2
    """

    # Legacy Keras asks. Where all callbacks take tensors as logs, it copies none to the host.

    @staticmethod
    def _has_no_batch_hooks() -> bool:
        return False

    _implements_train_batch_hooks = _has_no_batch_hooks
    _implements_test_batch_hooks = _has_no_batch_hooks
    _implements_predict_batch_hooks = _has_no_batch_hooks

    def __init__(
        self,
        logdir: str | os.PathLike[str],
        *,
        disable: Iterable[str] = (),
        profile_on_slowdown: bool = False,
        on_slowdown: Callable[[SlowdownEvent], object] | None = None,
    ) -> None:
        super().__init__()
        self._supports_tf_logs = True
        self._logdir = logdir
        self._options: dict[str, Any] = {
            "disable": disable,
            "profile_on_slowdown": profile_on_slowdown,
            "on_slowdown": on_slowdown,
        }
        self._monitor: monitor.Monitor | None = None

    @property
    def monitor(self) -> monitor.Monitor | None:
        """The monitor that watches, None before the first `fit`."""
        return self._monitor

    def on_train_begin(self, logs: Any = None) -> None:  # noqa: ARG002
        """Starts or finds the monitor and hooks into this `fit`."""
        _close_if_left()
        watching = self._monitor = _find_monitor(
            self._logdir, functools.partial(monitor.start, self._logdir, **self._options)
        )
        callbacks = _calling_list()
        if callbacks is None:
            _tell_failure(watching, "on_train_begin was called by no keras.callbacks.CallbackList")
            return
        watch_fit(watching, callbacks, self.model, self.params or {}, but=self)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy watches a training of its own: nothing of this one belongs into it.
        return functools.partial(type(self), **self._options), (self._logdir,)


class _Fit(NamedTuple):
    callbacks: weakref.ref[Any]
    """Keras's list. What `fit` holds must not be kept alive: it may have run out of memory."""
    hooks: FitHooks
    watching: monitor.Monitor
    steps: FitSteps


def watch_fit(
    watching: monitor.Monitor,
    callbacks: Any,
    model: Any,
    params: Mapping[str, Any],
    *,
    but: Any = None,
) -> None:
    """Makes steps of the batches of a `fit` that begins.

    Args:
      watching: The monitor.
      callbacks: Keras's list.
      model: What is trained.
      params: As Keras hands them to callbacks.
      but: A callback that is not timed.
    """
    steps = _steps.setdefault(watching, FitSteps(watching.recorder))
    steps.begin_fit(
        int(getattr(model, "steps_per_execution", 1) or 1),
        params.get("steps"),
        lambda: _iterations(model),  # BackupAndRestore has restored it by then
        params.get("epochs"),
    )
    siblings = [other for other in callbacks.callbacks if other is not but]
    for fact in describe_fit(model, siblings):
        watching.recorder.emit(fact)
    timer = SiblingTimer(watching.recorder.stopwatch, siblings, _base_of(callbacks))
    hooks = FitHooks(
        callbacks,
        steps,
        timer,
        end=lambda: _release(watching),
        fail=lambda error: _tell_failure(watching, reason_of(error)),
    )
    _remember(_Fit(weakref.ref(callbacks), hooks, watching, steps))


def is_fitting() -> bool:
    """Whether a `fit` is under way; one that has raised is closed here."""
    return _fit is not None and not _close_if_left()


def _remember(begun: _Fit) -> None:
    global _fit
    if _fit is not None:
        _fit.hooks.remove()
    _fit = begun
    begun.watching.unhook = begun.hooks.remove
    begun.watching.recorder.is_left = _close_if_left


def _release(watching: monitor.Monitor) -> None:
    """A `fit` is over: it is written, now or soon, and `tbslow.start` may replace the monitor."""
    global _fit
    _fit = None
    watching.flush_beside()
    if _is_own(watching):
        monitor.install(watching, explicit=False)


def _close_if_left() -> bool:
    """Closes the last `fit` if it has ended without a word; says whether it did."""
    left = _fit
    if left is None or left.watching.stopped or not left.watching.recorder.stopwatch.is_mine():
        return False
    callbacks = left.callbacks()
    if callbacks is not None and _is_running(callbacks):
        return False
    left.steps.leave_fit()
    left.hooks.remove()
    _release(left.watching)
    return True


def _is_running(callbacks: Any) -> bool:
    """Whether this thread is inside the `fit` that made this list."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        # Of no frame of the program: to read its variables would keep what they hold.
        has_it = "callbacks" in frame.f_code.co_varnames and is_known_library(frame)
        if has_it and frame.f_locals.get("callbacks") is callbacks:
            return True
        frame = frame.f_back
    return False


def _find_monitor(
    logdir: str | os.PathLike[str], start: Callable[[], monitor.Monitor]
) -> monitor.Monitor:
    global _own
    active = monitor.active()
    if active is not None and not active.forked:
        if _own == (active, os.fspath(logdir)):
            monitor.install(active, explicit=True)
            return active
        if monitor.explicit_recorder is not None and not _is_own(active):
            return active
        active.stop()
    started = start()
    _own = (started, os.fspath(logdir))
    return started


def _is_own(watching: monitor.Monitor) -> bool:
    return _own is not None and _own[0] is watching


def _calling_list() -> Any:
    """The callback list that calls `on_train_begin`: Keras does not hand it on."""
    lists = tuple(
        sys.modules[package].callbacks.CallbackList
        for package in ("keras", "tf_keras")
        if package in sys.modules
    )
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, lists):
            return caller
        frame = frame.f_back
    return None


def _base_of(callbacks: Any) -> type:
    """`Callback` of the Keras that made this list."""
    base: type = sys.modules[type(callbacks).__module__.partition(".")[0]].callbacks.Callback
    return base


def _iterations(model: Any) -> int:
    """Steps that the optimizer has made, 0 where the model has none or they can't be read."""
    iterations = getattr(getattr(model, "optimizer", None), "iterations", None)
    if iterations is None:
        return 0
    variable = getattr(iterations, "_value", iterations)  # a strategy's, inside Keras's own
    replicas = getattr(variable, "values", None)
    try:
        return int(replicas[0] if replicas else iterations)
    except Exception:  # noqa: BLE001 - only where the numbers of the steps begin
        return 0


def _tell_failure(watching: monitor.Monitor, reason: str) -> None:
    watching.recorder.emit(Failure("keras", reason))
    _log.warning("slowdown monitor: keras failed (%s); training goes on", reason)
