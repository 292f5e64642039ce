"""The profiler's step annotation: XProf and our own reader see which steps a capture holds.

Private TensorFlow: `enabled` of `tensorflow.python.profiler.trace`, a variable that the
profiler sets (2.16), later a function that asks it in 0.025 us (2.21); making a
`tf.profiler.experimental.Trace` for each step of a run that nobody profiles would take
0.6 us. Without it steps are not annotated.

`StepTrace` is the step under way, in the capture of a profiler that is on.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, cast


class ProfilerAnnotation(Protocol):
    """A stretch of a trace that has begun."""

    def __exit__(self, *error: object) -> object:
        """Ends it."""


def find_profiler() -> Callable[[], bool]:
    """What tells whether a profiler is on in this process, whoever started it."""
    try:
        module: Any = import_module("tensorflow.python.profiler.trace")
    except ImportError:
        return lambda: False
    found = getattr(module, "enabled", None)
    if callable(found):
        return cast("Callable[[], bool]", found)
    return (lambda: bool(module.enabled)) if isinstance(found, bool) else lambda: False


def annotate(kind: str, number: int) -> ProfilerAnnotation:
    """Begins the annotation of a step in the capture that is on.

    Args:
      kind: The kind of the step, which names it in the trace viewer.
      number: The step's number.
    """
    import tensorflow as tf

    # `_r` says that events group below it; `#` would end the name.
    trace: ProfilerAnnotation = tf.profiler.experimental.Trace(
        kind.replace("#", "_"), step_num=number, _r=1
    )
    return trace


class StepTrace:
    """Opens and closes the annotation of one step after the other; never raises.

    Args:
      annotate: Begins the annotation of a step of a kind, with its number. Once it has
        failed no further step is annotated.
    """

    __slots__ = ("_annotate", "_annotation", "is_open")

    def __init__(self, annotate: Callable[[str, int], ProfilerAnnotation] | None) -> None:
        self._annotate = annotate
        self._annotation: ProfilerAnnotation | None = None
        self.is_open = False
        """Whether there is something to close."""

    def open(self, kind: str, number: int) -> None:
        """The step begins."""
        if self._annotate is not None:
            try:
                self._annotation = self._annotate(kind, number)
                self.is_open = True
            except Exception:  # noqa: BLE001 - the training must not see it
                self._annotate = None

    def close(self) -> None:
        """It ended."""
        annotation, self._annotation = self._annotation, None
        self.is_open = False
        if annotation is not None:
            try:
                annotation.__exit__(None, None, None)
            except Exception:  # noqa: BLE001 - the training must not see it
                self._annotate = None
