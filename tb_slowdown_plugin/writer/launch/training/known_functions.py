"""Which functions of the program make steps: a `tf.function` that trains, or the one that is meant.

Cost: 1 us a call; reading a graph, once a trace, less than 1 ms.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import CodeType
from typing import Any, NamedTuple, TypeAlias

from tb_slowdown_plugin.collectors.hooks.source_location import code_of
from tb_slowdown_plugin.collectors.tracing.subjects import Subjects
from tb_slowdown_plugin.writer.launch.training import graph_updates
from tb_slowdown_plugin.writer.launch.training.step_cycle import Training

ComputingStep: TypeAlias = Callable[[Hashable, Callable[[], bool]], bool]
"""Whether a call of a code that doesn't train is a step all the same; it may ask whether the code
computes gradients."""


@dataclass(slots=True)
class OtherCalls:
    """Calls of one function that make no step."""

    calls: int = 0
    seconds: float = 0.0
    """What they took since the first step."""
    compute_gradients: bool = False
    """Whether it differentiates: the step trains with what it gives."""


class _KnownFunction(NamedTuple):
    """What is known of a `tf.function`."""

    training: Training | None
    traces: int
    """How many it had then: another trace may train."""


class KnownFunctions:
    """What is known of the functions that were called so far.

    Args:
      only: Name of the one function whose calls are steps; "" for all that train.
      is_computing_step: As its type says.
    """

    def __init__(self, only: str, is_computing_step: ComputingStep) -> None:
        self.others: dict[str, OtherCalls] = {}
        """The program's own functions whose calls make no step."""
        self._only = only
        self._is_computing_step = is_computing_step
        self._subjects = Subjects.of_process()
        self._functions: weakref.WeakKeyDictionary[Any, _KnownFunction] = (
            weakref.WeakKeyDictionary()
        )
        self._by_code: dict[CodeType, Training] = {}

    def find(self, function: Any) -> Training | None:
        """What the calls of a function are, as far as is known before this one."""
        known = self._functions.get(function)
        if known is not None:
            return known.training
        code = code_of(function.python_function)
        training = self._by_code.get(code) if code is not None else None
        if training is not None:
            self._functions[function] = _KnownFunction(training, 0)
        return training

    def learn(self, function: Any, seconds: float = 0.0) -> Training | None:
        """What the call was, after one of a function that was not known to make steps.

        Args:
          function: A `tf.function`.
          seconds: What the call took; 0 before the first step.
        """
        subject = self._subjects.of_function(function.python_function)
        if subject.is_library:
            return None
        name = f"{subject.function} ({subject.location})" if subject.location else subject.function
        training = None
        traces = function.experimental_get_tracing_count()
        known = self._functions.get(function)
        is_new = known is None or known.traces != traces
        if is_new and self._makes_steps(function, subject.function):
            training = Training(name, subject.function)
        code = code_of(function.python_function)
        if training is None:
            others = self.others.setdefault(name, OtherCalls())
            others.calls += 1
            others.seconds += seconds
            if is_new:
                others.compute_gradients |= graph_updates.computes_gradients(function)
            if (
                not self._only
                and code is not None
                and self._is_computing_step(
                    code, lambda: graph_updates.computes_gradients(function)
                )
            ):
                del self.others[name]
                training = Training(name, subject.function, trains=False)
        if training is not None and code is not None:
            self._by_code[code] = training
        self._functions[function] = _KnownFunction(training, traces)
        return training

    def forget_computing(self) -> None:
        """Those that make steps and don't train: their calls are no steps from now on."""
        computing = [code for code, training in self._by_code.items() if not training.trains]
        for code in computing:
            del self._by_code[code]
        if computing:
            self._functions.clear()

    def _makes_steps(self, function: Any, name: str) -> bool:
        if self._only:
            return self._only in (name, name.rpartition(".")[2])
        return graph_updates.any_trace_trains(function)
