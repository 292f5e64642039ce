"""Sees the calls of a program that train: of a `tf.function`, a Keras model, an optimizer.

Where none of them trains, the program's own assignments to variables do (`assignments.py`), and
where nothing does, what computes (`computations.py`).

Only calls from outside of any graph count, and only the outermost one: what `fit` and
`train_on_batch` call inside is theirs.

Cost: 1 us a call of a `tf.function`, 5 us a call of `train_on_batch` or of an optimizer; reading
a graph, once a function, less than 1 ms.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator, Hashable
from threading import current_thread, get_ident, main_thread
from types import FrameType
from typing import Any, Final

from tb_slowdown_plugin.collectors.base import (
    Unavailable,
    loaded_keras,
)
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surround
from tb_slowdown_plugin.writer.keras.callback import is_fitting
from tb_slowdown_plugin.writer.launch.training.assignments import INCREMENTS, METHODS, Assignments
from tb_slowdown_plugin.writer.launch.training.called_lines import CalledLines
from tb_slowdown_plugin.writer.launch.training.computations import Computations
from tb_slowdown_plugin.writer.launch.training.known_functions import KnownFunctions
from tb_slowdown_plugin.writer.launch.training.session_runs import TrainingSessionRuns
from tb_slowdown_plugin.writer.launch.training.step_cycle import StepCycle, Training
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import Opening

BY: Final = "tbslow run"
"""Whose hooks they are."""
_CALLS_IN_DOUBT: Final = 100
"""Calls of other functions from which the one that is meant may be misspelt. Chosen by hand."""
_GRADIENTS: Final = ("gradient", "jacobian", "batch_jacobian")
"""Methods of a tape that compute gradients."""


class TrainingCalls:
    """Hooks what trains, and tells a `StepCycle` of each call.

    Args:
      recorder: Of the monitor.
      cycle: Makes steps of the calls.
      only: Name of the one function whose calls are steps; "" for all that train.
      fail: Is told what has failed here; nothing is hooked any more then.
      doubt: Is called once, where many calls were none of the one function that is meant.
    """

    def __init__(
        self,
        recorder: Recorder,
        cycle: StepCycle,
        only: str,
        fail: Callable[[Exception], None],
        doubt: Callable[[], None] = lambda: None,
    ) -> None:
        from tensorflow.python.eager import context

        self._recorder = recorder
        self._cycle = cycle
        self._only = only
        self._fail = fail
        self._doubt = doubt
        self._unlike = 0
        self._monotonic_ns = recorder.clock.monotonic_ns
        self._executing_eagerly = context.executing_eagerly
        self._hooks = MethodHooks(BY, self._leave)
        self._assigning_hooks = MethodHooks(BY, self._leave)
        self._assignments: Assignments | None = Assignments()
        """None once anything else trains."""
        self._computing_hooks = MethodHooks(BY, self._leave)
        self._computations: Computations | None = Computations()
        """None once anything trains."""
        self._lines = CalledLines()
        self._is_inside = False
        self._functions = KnownFunctions(only, self._is_computing_step)
        self.others = self._functions.others
        """The program's own functions whose calls make no step."""
        self._mark: Opening | None = None
        self._sessions = TrainingSessionRuns()
        self.first_wait: Callable[[], Opening | None] = lambda: None
        """Since when the program waits for the data of its first step, where it does."""

    def install(self) -> None:
        """Hooks TensorFlow's functions, and Keras's models and optimizers where it is there."""
        import tensorflow as tf
        from tensorflow.python.client import session
        from tensorflow.python.eager.polymorphic_function import polymorphic_function
        from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable

        self._hook(polymorphic_function.Function, "_call", self._around_function)
        if self._only:
            return
        keras = loaded_keras()
        if keras is not None:
            self._hook(keras.Model, "train_on_batch", self._around_line("train_on_batch"))
            optimizer = keras.optimizers.Optimizer
            method = "apply" if hasattr(optimizer, "apply") else "apply_gradients"
            self._hook(optimizer, method, self._around_line(method))
        optimizer, method = tf.compat.v1.train.Optimizer, "apply_gradients"
        self._hook(optimizer, method, self._around_line(method))
        self._hook(session.BaseSession, "run", self._around_session)
        for method in METHODS:
            with contextlib.suppress(Unavailable):
                self._assigning_hooks.surround(
                    BaseResourceVariable, method, self._around_assignment(method)
                )
        with contextlib.suppress(Unavailable):
            self._computing_hooks.surround(BaseResourceVariable, "__init__", self._around_creation)
            for method in _GRADIENTS:
                self._computing_hooks.surround(
                    tf.GradientTape, method, self._around_gradient(method)
                )

    def remove(self) -> None:
        """Takes the hooks out."""
        self._hooks.remove()
        self._assigning_hooks.remove()
        self._computing_hooks.remove()

    def _hook(self, owner: Any, name: str, hook: Surround) -> None:
        with contextlib.suppress(Unavailable):
            self._hooks.surround(owner, name, hook)

    # -- what was called ----------------------------------------------------------------

    def _around_function(self, function: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        if not self._is_outermost():
            yield
            return
        known = self._guarded(self._functions.find, function)
        if known is not None:
            yield from self._train(known)
            return
        is_claimed, is_begun = False, self._recorder.is_begun
        if not is_begun:
            self._mark = self.first_wait() or self._recorder.mark()
            is_claimed = self._recorder.stopwatch.claim_free()  # so that its traces are booked
        began_ns = self._monotonic_ns()
        yield
        seconds = (self._monotonic_ns() - began_ns) / 1e9 if is_begun else 0.0
        self._guarded(self._look_at_traces, function, seconds)
        if is_claimed and not self._recorder.is_begun:
            self._recorder.stopwatch.release()

    def _around_line(self, name: str) -> Surround:
        def call(owner: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
            training = None
            if self._is_outermost():
                training = self._guarded(
                    self._lines.at, sys._getframe(1), type(owner).__name__, name
                )
            if training is None:
                yield
            else:
                yield from self._train(training)

        return call

    def _around_session(
        self, session: Any, fetches: Any, *_: Any, **__: Any
    ) -> Generator[None, Any, None]:
        if self._is_inside or not self._may_train_here() or is_fitting():
            yield
        elif self._guarded(self._sessions.train, session, fetches):
            yield from self._train(self._lines.at(sys._getframe(1), type(session).__name__, "run"))
        else:
            yield

    def _around_assignment(self, name: str) -> Surround:
        is_increment = name in INCREMENTS

        def call(variable: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
            training = None
            if self._is_outermost():
                training = self._guarded(
                    self._begun_by_hand, sys._getframe(1), variable, name, is_increment
                )
            elif is_fitting():
                self._guarded(self._leave_others)
            if training is None:
                yield
            else:
                yield from self._surround(training)

        return call

    def _around_gradient(self, name: str) -> Surround:
        def call(*_: Any, **__: Any) -> Generator[None, Any, None]:
            training = None
            if self._is_outermost():
                training = self._guarded(self._computed_at_line, sys._getframe(1), name)
            if training is None:
                yield
            else:
                yield from self._surround(training)

        return call

    def _computed_at_line(self, frame: FrameType, name: str) -> Training | None:
        if not self._is_computing_step((name, *calling_line(frame))):
            return None
        return self._lines.at(frame, "GradientTape", name, trains=False)

    def _is_computing_step(
        self, what: Hashable, computes_gradients: Callable[[], bool] = lambda: True
    ) -> bool:
        computations = self._computations
        # A thread that prepares data must not take the place of the one that trains.
        if computations is None or current_thread() is not main_thread():
            return False
        if computations.is_training_expected and self._recorder.rows and not computations.found:
            self._leave_computations()  # something else makes steps, such as `fit`
            return False
        return computations.is_step(what, computes_gradients)

    def _around_creation(self, variable: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        yield
        if self._computations is not None and getattr(variable, "trainable", False):
            self._guarded(self._expect_training)

    def _expect_training(self) -> None:
        """There is something to train: what only computes is hardly a step any more."""
        if self._computations is not None:
            self._computations.expect_training()
            self._functions.forget_computing()

    def _leave_computations(self) -> None:
        """Something trains: what only computes is no step any more."""
        if self._computations is not None:
            self._computations = None
            self._computing_hooks.remove()
            self._functions.forget_computing()

    def _begun_by_hand(
        self, frame: FrameType, variable: Any, name: str, is_increment: bool
    ) -> Training | None:
        assignments = self._assignments
        if assignments is None or not (variable.trainable and variable.dtype.is_floating):
            return None
        line = calling_line(frame)
        if not assignments.begins_step(line, id(variable), is_increment=is_increment):
            return None
        self._leave_computations()
        return self._lines.at(frame, "", name)

    def _is_outermost(self) -> bool:
        if self._is_inside or not self._executing_eagerly():
            return False
        return self._may_train_here() and not is_fitting()

    def _may_train_here(self) -> bool:
        """Whether this is the thread that trains, or any where none has trained yet."""
        recorder = self._recorder
        return recorder.stopwatch.thread == get_ident() or not (recorder.rows or recorder.in_step)

    def _train(self, training: Training) -> Generator[None, Any, None]:
        if training.trains:
            self._guarded(self._leave_others)
        return self._surround(training)

    def _leave_others(self) -> None:
        """Something else trains: what is assigned by hand is a copy, or clipped."""
        self._leave_computations()
        if self._assignments is not None:
            self._assignments = None
            self._assigning_hooks.remove()

    def _surround(self, training: Training) -> Generator[None, Any, None]:
        self._is_inside = True
        try:
            self._guarded(self._begin, training)
            yield
        except BaseException:
            self._guarded(self._cycle.forget)
            raise
        finally:
            self._is_inside = False
        self._guarded(self._cycle.leave)

    def _begin(self, training: Training, mark: Opening | None = None) -> None:
        if not self._recorder.is_begun:
            since = mark or self.first_wait()
            if since is not None:
                self._recorder.open_since(since)
        self._cycle.enter(training)

    def _look_at_traces(self, function: Any, seconds: float) -> None:
        """After a call of a function that was not known to make steps."""
        training = self._functions.learn(function, seconds)
        if training is None:
            self._unlike += bool(self._only) and not self._recorder.rows
            if self._unlike == _CALLS_IN_DOUBT:
                self._unlike += 1
                self._doubt()
            return
        if training.trains:
            self._leave_others()
        self._begin(training, self._mark)
        self._cycle.leave()

    def _guarded(self, do: Callable[..., Any], *args: Any) -> Any:
        """A mistake of ours must not reach the program: what is hooked goes."""
        try:
            return do(*args)
        except Exception as error:  # noqa: BLE001 - the training must not see it
            self._leave(error)
            return None

    def _leave(self, error: Exception) -> None:
        self.remove()
        self._fail(error)
