"""What is known of each function that was traced, and whose doing a new trace is.

A function is known by its code: a `tf.function` made anew in every iteration
has the same code. A `tf.function` object is known by its captures, which
TensorFlow makes one of per object, and which can be referred to weakly.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tb_slowdown_plugin.catalog.names import AGAIN, FIRST, LIBRARY
from tb_slowdown_plugin.collectors.hooks.tensorflow_internals import (
    is_saving,
)
from tb_slowdown_plugin.collectors.tracing import (
    argument_changes,
)
from tb_slowdown_plugin.collectors.tracing.argument_changes import explain
from tb_slowdown_plugin.collectors.tracing.arguments import Arguments, Object, describe
from tb_slowdown_plugin.collectors.tracing.subjects import Subject
from tb_slowdown_plugin.records.types import Change, TraceCause

_COMPARED = 64
"""Earlier traces that a new one is compared with, the newest: a comparison takes microseconds,
and a function with hundreds of traces is explained as well by its last ones."""
_KERAS_ARGUMENTS = {"iterator": "batch", "data": "batch"}
_MODEL = "model"
_COMPILED_AGAIN = Change(_MODEL, "python_object", "compiled", "the same model, compiled again")


@dataclass(slots=True)
class FunctionHistory:
    """All traces of one code."""

    traces: int = 0
    objects: int = 0
    """`tf.function` objects with this code that were traced."""
    detail: str = FIRST
    """Whose doing the first trace of the newest object was."""
    newest: Arguments | None = None
    covering: Arguments | None = None
    """The arguments that cover all traces so far."""
    trained: weakref.WeakValueDictionary[int, Any] = field(
        default_factory=weakref.WeakValueDictionary
    )
    """Variables that its graphs train, by identity."""


@dataclass(frozen=True, slots=True)
class TraceReason:
    """What a trace is, as far as it can be told before it runs."""

    subject: Subject
    arguments: Arguments
    cause: TraceCause
    detail: str
    """FIRST, AGAIN or LIBRARY: the detail of the accounts that its seconds go to."""
    changes: tuple[Change, ...] = ()


@dataclass(slots=True)
class TracedFunctions:
    """The functions traced so far. The caller holds a lock around each call."""

    _by_code: dict[Hashable, FunctionHistory] = field(default_factory=dict)
    _by_object: weakref.WeakKeyDictionary[Any, deque[Arguments]] = field(
        default_factory=weakref.WeakKeyDictionary
    )

    def judge(
        self, subject: Subject, function_type: Any, options: Any, around: TraceReason | None
    ) -> TraceReason:
        """Why this trace happens.

        Args:
          subject: What is traced.
          function_type: TensorFlow's type of the arguments.
          options: TensorFlow's `TracingOptions` of the trace.
          around: Of the trace that this one is nested in.
        """
        if subject.creates_variables_of is not None:
            return TraceReason(
                subject, {}, "variables", self._history(subject.creates_variables_of).detail
            )
        arguments = _describe(subject, function_type)
        if subject.is_library:
            return TraceReason(
                subject, arguments, "library", LIBRARY if around is None else around.detail
            )
        history = self._history(subject)
        earlier = self._traces_of_object(subject, options)
        changes = explain(arguments, reversed(earlier))
        if changes is None:
            if history.objects == 0:
                return TraceReason(subject, arguments, "first", FIRST)
            changes = explain(arguments, [history.newest] if history.newest is not None else [])
            if subject.model is not None and not _names_model(changes):
                changes = (_COMPILED_AGAIN, *(changes or ()))
            return TraceReason(subject, arguments, "new_object", AGAIN, changes or ())
        if changes:
            return TraceReason(subject, arguments, "signature", AGAIN, changes)
        if _is_second_for_variables(options, around):
            return TraceReason(subject, arguments, "variables", history.detail)
        if is_saving():
            return TraceReason(subject, arguments, "library", LIBRARY)
        return TraceReason(subject, arguments, "context", AGAIN)

    def add(self, reason: TraceReason, options: Any) -> tuple[int, tuple[str, ...]]:
        """Remembers a trace that succeeded.

        Returns:
          How many traces this code has had, and the signature that covers them all.
        """
        if reason.subject.creates_variables_of is not None:
            return self._history(reason.subject.creates_variables_of).traces, ()
        history = self._history(reason.subject)
        history.traces += 1
        traces = self._by_object.get(options.function_captures) if _has_object(options) else None
        if traces is None:
            history.objects += 1
            history.detail = reason.detail
            traces = deque(maxlen=_COMPARED)
            if _has_object(options):
                self._by_object[options.function_captures] = traces
        history.objects = max(history.objects, 1)
        traces.append(reason.arguments)
        history.newest = reason.arguments
        return max(history.traces, len(traces)), self._cover(history, reason)

    def add_model(self, subject: Subject, variables: Sequence[Any]) -> bool:
        """Remembers the variables that a graph trains.

        Returns:
          Whether there are any, and none of them was in an earlier graph of this code.
        """
        trained = self._history(subject.creates_variables_of or subject).trained
        is_new = bool(variables) and not any(id(each) in trained for each in variables)
        trained.update((id(each), each) for each in variables)
        return is_new

    def _cover(self, history: FunctionHistory, reason: TraceReason) -> tuple[str, ...]:
        if reason.subject.is_library or reason.subject.model is not None:
            return ()  # not the user's to declare
        history.covering = (
            reason.arguments
            if history.covering is None
            else argument_changes.merge(history.covering, reason.arguments)
        )
        return argument_changes.write(history.covering)

    def _history(self, subject: Subject) -> FunctionHistory:
        return self._by_code.setdefault(subject.key, FunctionHistory())

    def _traces_of_object(self, subject: Subject, options: Any) -> deque[Arguments]:
        if not _has_object(options):
            return deque()
        known = self._by_object.get(options.function_captures)
        if known is None and options.function_cache is not None and len(options.function_cache):
            # traced before the collector started
            cached = options.function_cache.values()[-_COMPARED:]
            known = deque((_describe(subject, trace.function_type) for trace in cached), _COMPARED)
            self._by_object[options.function_captures] = known
        return deque() if known is None else known


def _describe(subject: Subject, function_type: Any) -> Arguments:
    """The arguments under the user's names; of a Keras step its model and its batch."""
    arguments = describe(function_type)
    if subject.model is not None:
        model = Object(type(subject.model()).__name__, subject.model)
        batch = {_KERAS_ARGUMENTS.get(name, name): node for name, node in arguments.items()}
        return {_MODEL: model, **batch}
    passed_on = {f"args_{index}": name for index, name in enumerate(subject.argument_names)}
    return {passed_on.get(name, name): node for name, node in arguments.items()}


def _names_model(changes: tuple[Change, ...] | None) -> bool:
    return any(change.argument == _MODEL for change in changes or ())


def _has_object(options: Any) -> bool:
    return options.function_captures is not None


def _is_second_for_variables(options: Any, around: TraceReason | None) -> bool:
    """Whether TensorFlow traces the same once more because the first trace made variables."""
    scope = getattr(options.scope_type, "name", "")
    alone = options.function_cache is not None and len(options.function_cache) == 1
    inside = around is not None and around.cause == "variables"
    return inside or (alone and scope == "NO_VARIABLE_CREATION")
