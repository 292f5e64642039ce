"""Sees the calls of a program that train: of a `tf.function`, a Keras model, an optimizer.

Where none of them trains, the program's own assignments to variables do (`assignments.py`), and
where there is no variable, what computes (`computations.py`).

Only calls from outside of any graph count, and only the outermost one: what `fit` and
`train_on_batch` call inside is theirs.

Cost: 1 us a call of a `tf.function`, 5 us a call of `train_on_batch` or of an optimizer; reading
a graph, once a function, less than 1 ms.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Generator, Hashable
from threading import current_thread, get_ident, main_thread
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.base import (
    Unavailable,
    loaded_keras,
)
from tb_slowdown_plugin.collectors.hooks.installed_code import calling_line
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, code_of
from tb_slowdown_plugin.collectors.hooks.surrounded_code import Surround
from tb_slowdown_plugin.collectors.tracing.subjects import Subjects
from tb_slowdown_plugin.writer.keras.callback import is_fitting
from tb_slowdown_plugin.writer.launch.training import graph_updates
from tb_slowdown_plugin.writer.launch.training.assignments import INCREMENTS, METHODS, Assignments
from tb_slowdown_plugin.writer.launch.training.computations import Computations
from tb_slowdown_plugin.writer.launch.training.session_runs import SessionRuns
from tb_slowdown_plugin.writer.launch.training.step_cycle import StepCycle, Training
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import Opening

BY: Final = "tbslow run"
"""Whose hooks they are."""
_PUBLIC: Final = frozenset(
    ("apply", "apply_gradients", "minimize", "set_weights", "train_on_batch")
)
"""What a program may have called that leads to what is hooked."""


_GRADIENTS: Final = ("gradient", "jacobian", "batch_jacobian")
"""Methods of a tape that compute gradients."""


class _Known(NamedTuple):
    """What is known of a `tf.function`."""

    training: Training | None
    traces: int
    """How many it had then: another trace may train."""


class TrainingCalls:
    """Hooks what trains, and tells a `StepCycle` of each call.

    Args:
      recorder: Of the monitor.
      cycle: Makes steps of the calls.
      only: Name of the one function whose calls are steps; "" for all that train.
      fail: Is told what has failed here; nothing is hooked any more then.
    """

    def __init__(
        self, recorder: Recorder, cycle: StepCycle, only: str, fail: Callable[[Exception], None]
    ) -> None:
        from tensorflow.python.eager import context

        self.seen: Counter[str] = Counter()
        """Calls of the program's own functions that don't train."""
        self._recorder = recorder
        self._cycle = cycle
        self._only = only
        self._fail = fail
        self._executing_eagerly = context.executing_eagerly
        self._hooks = MethodHooks(BY)
        self._assigning_hooks = MethodHooks(BY)
        self._assignments: Assignments | None = Assignments()
        """None once anything else trains."""
        self._computing_hooks = MethodHooks(BY)
        self._computations: Computations | None = Computations()
        """None once there is a trainable variable."""
        self._subjects = Subjects.of_process()
        self._places = SourcePlaces.of_process()
        self._is_inside = False
        self._functions: weakref.WeakKeyDictionary[Any, _Known] = weakref.WeakKeyDictionary()
        self._by_code: dict[CodeType, Training] = {}
        self._by_line: dict[tuple[str, str, int], Training] = {}
        self._mark: Opening | None = None
        self._sessions = SessionRuns()
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
        known = self._guarded(self._look_up, function)
        if known is not None:
            yield from self._train(known)
            return
        is_claimed = False
        if not self._recorder.is_begun:
            self._mark = self.first_wait() or self._recorder.mark()
            is_claimed = self._recorder.stopwatch.claim_free()  # so that its traces are booked
        yield
        self._guarded(self._look_at_traces, function)
        if is_claimed and not self._recorder.is_begun:
            self._recorder.stopwatch.release()

    def _around_line(self, name: str) -> Surround:
        def call(owner: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
            training = None
            if self._is_outermost():
                training = self._guarded(
                    self._at_line, sys._getframe(1), type(owner).__name__, name
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
            yield from self._train(self._at_line(sys._getframe(1), type(session).__name__, "run"))
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
                self._guarded(self._leave_assignments)
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
        return self._at_line(frame, "GradientTape", name, trains=False)

    def _is_computing_step(self, what: Hashable) -> bool:
        computations = self._computations
        # A thread that prepares data must not take the place of the one that trains.
        if computations is None or current_thread() is not main_thread():
            return False
        return computations.is_step(what)

    def _around_creation(self, variable: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        yield
        if self._computations is not None and getattr(variable, "trainable", False):
            self._guarded(self._leave_computations)

    def _leave_computations(self) -> None:
        """There is something to train: what only computes is no step any more."""
        self._computations = None
        self._computing_hooks.remove()
        computing = [code for code, training in self._by_code.items() if not training.trains]
        for code in computing:
            del self._by_code[code]
        if computing:
            self._functions.clear()

    def _begun_by_hand(
        self, frame: FrameType, variable: Any, name: str, is_increment: bool
    ) -> Training | None:
        assignments = self._assignments
        if assignments is None or not (variable.trainable and variable.dtype.is_floating):
            return None
        line = calling_line(frame)
        if not assignments.begins_step(line, id(variable), is_increment=is_increment):
            return None
        return self._at_line(frame, "", name)

    def _is_outermost(self) -> bool:
        if self._is_inside or not self._executing_eagerly():
            return False
        return self._may_train_here() and not is_fitting()

    def _may_train_here(self) -> bool:
        """Whether this is the thread that trains, or any where none has trained yet."""
        recorder = self._recorder
        return recorder.stopwatch.thread == get_ident() or not (recorder.rows or recorder.in_step)

    def _train(self, training: Training) -> Generator[None, Any, None]:
        if training.trains and self._assignments is not None:
            self._guarded(self._leave_assignments)
        return self._surround(training)

    def _leave_assignments(self) -> None:
        """Something else trains: what is assigned by hand is a copy, or clipped."""
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

    # -- whether it trains --------------------------------------------------------------

    def _look_up(self, function: Any) -> Training | None:
        known = self._functions.get(function)
        if known is not None:
            return known.training
        code = code_of(function.python_function)
        training = self._by_code.get(code) if code is not None else None
        if training is not None:
            self._functions[function] = _Known(training, 0)
        return training

    def _look_at_traces(self, function: Any) -> None:
        """After a call of a function that is not known to train."""
        traces = function.experimental_get_tracing_count()
        known = self._functions.get(function)
        subject = self._subjects.of_function(function.python_function)
        if subject.is_library:
            return
        name = f"{subject.function} ({subject.location})" if subject.location else subject.function
        if known is None or known.traces != traces:
            training = None
            if self._is_meant(subject.function) if self._only else _trains(function):
                training = Training(name, subject.function)
                code = code_of(function.python_function)
                if code is not None:
                    self._by_code[code] = training
            self._functions[function] = _Known(training, traces)
            if training is not None:
                self._leave_assignments()
                self._begin(training, self._mark)
                self._cycle.leave()
                return
        self.seen[name] += 1
        if not self._only:
            self._look_at_computation(function, Training(name, subject.function, trains=False))

    def _look_at_computation(self, function: Any, computing: Training) -> None:
        code = code_of(function.python_function)
        if code is None or not self._is_computing_step(code):
            return
        del self.seen[computing.name]
        self._by_code[code] = computing
        self._functions[function] = _Known(computing, function.experimental_get_tracing_count())
        self._begin(computing, self._mark)
        self._cycle.leave()

    def _is_meant(self, name: str) -> bool:
        return self._only in (name, name.rpartition(".")[2])

    def _at_line(self, frame: FrameType, owner: str, name: str, *, trains: bool = True) -> Training:
        """A call by the line of the program that made it, under the name that it has there.

        Args:
          frame: Of what was called.
          owner: Its class, "" where that says nothing to the user.
          name: What was called.
          trains: Whether that changes variables.
        """
        called, (file, line) = name, calling_line(frame)
        while frame.f_back is not None and (frame.f_code.co_filename, frame.f_lineno) != (
            file,
            line,
        ):
            if frame.f_code.co_name in _PUBLIC:
                called = frame.f_code.co_name
            frame = frame.f_back
        what = f"{owner}.{called}" if owner else called
        training = self._by_line.get((what, file, line))
        if training is None:
            name = f"{what} ({self._places.at(file, line)})"
            training = self._by_line[what, file, line] = Training(name, what, trains)
        return training

    def _guarded(self, do: Callable[..., Any], *args: Any) -> Any:
        """A mistake of ours must not reach the program: what is hooked goes."""
        try:
            return do(*args)
        except Exception as error:  # noqa: BLE001 - the training must not see it
            self.remove()
            self._fail(error)
            return None


def _trains(function: Any) -> bool:
    """Whether any trace of a `tf.function` trains."""
    for config in (function._no_variable_creation_config, function._variable_creation_config):
        cache = getattr(config, "function_cache", None)
        if cache is not None and any(graph_updates.trains(each) for each in cache.values()):
            return True
    return False
