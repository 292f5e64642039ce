"""What a collector is: one family of signals, with a start, a reading and a stop.

A collector hooks into TensorFlow, Keras or Python when it starts, removes its
hook when it stops, and says in plain words why it can't run where it can't.
It has three ways to report: seconds of the training thread go to the
`Stopwatch`, things that happen once to `Context.emit`, and what is sampled is
returned by `read`. It never raises into the training loop.

Also here: finding Keras where the program has imported it, and what Keras computes with.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.errors import reason_of
from tb_slowdown_plugin.records.types import CollectorState, What

_TITLES: Final = {"jax": "JAX", "torch": "PyTorch", "numpy": "NumPy", "openvino": "OpenVINO"}

_ONLY_TENSORFLOW: Final = frozenset(
    {
        "allocator",
        "communication",
        "graph_size",
        "live_tensors",
        "tapes",
        "tracing",
        "xla_compilation",
    }
)

_ONLY_TF_DATA: Final = frozenset({"batch_shapes", "input_wait"})

_ONLY_HOOKED_KERAS: Final = frozenset(
    {
        "callback_lines",
        "checkpoints",
        "evaluations",
        "fit_calls",
        "layer_lines",
        "metric_lines",
        "model_setup",
        "optimizers",
        "predict_calls",
    }
)


class Unavailable(Exception):
    """A collector can't run here; the text completes "not measured: ..."."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a collector is given when it starts."""

    clock: Clock
    stopwatch: Stopwatch
    emit: Callable[[What], None]
    """Records that something happened now, in the step under way. Any thread."""
    report_failure: Callable[[str, str], None]
    """(part, reason): a hook failed; it is recorded once a part, training goes on."""
    steps_finished: Callable[[], int] = lambda: 0
    """How many steps the training thread has finished. Any thread."""
    batch_observers: list[Callable[[Any], None]] = field(default_factory=list)
    """Called with batches of `tbslow.data`, in the training thread, but for those that look like
    the one before. They never raise."""
    watched: set[str] = field(default_factory=set)
    """Directories whose growth is watched: the logdir, where it is known, and whatever
    directory a collector sees being written to."""

    def failure_of(self, name: str) -> Callable[[Exception], None]:
        """What tells of an error in a hook of the collector of that name."""
        return lambda error: self.report_failure(name, reason_of(error))


class Collector(Protocol):
    """One family of signals. `name` is what the environment record lists it under.

    It may have more, and is then treated so:

    - `caveat`, a text: after `start`, what it doesn't see here, and why; "" where it sees all.
    - `read_in_thread() -> Mapping[str, float]`: as `SampledCollector.read`, but called in the
      training thread, at the end of a step, for what only that thread can see, such as its
      default graph. At most once a sample, so it may cost microseconds, not milliseconds.

    A `SampledCollector` may also have:

    - `in_background = True`: it asks the system and hooks nothing, so it is started where it is
      read. A driver or a network filesystem may take seconds to answer, or for ever; the training
      thread does not wait for that.
    - `is_cheap = True`: it is also read between two samples while a run is young, and later while
      any of these `is_curious`. What all
      collectors together cost leaves a program of ten seconds a dozen samples.
    - `look_once()`: called before `read`, for what takes long and is done once, such as counting
      the operations of a graph. What it costs makes no sample late, and it is left out while a run
      has had much of it.
    - `due_ns`: when the sampling thread was due, which is told before a reading.
    - `look_late(seconds)`: called when the sampling thread woke up so many seconds late, before
      anything gives the interpreter's lock away again; `read` comes then.
    """

    name: str

    def start(self, context: Context) -> None:
        """Installs the hooks.

        Raises:
          Unavailable: It can't run here, and why.
        """

    def stop(self) -> None:
        """Removes the hooks; what TensorFlow had before is back in place."""


class SampledCollector(Collector, Protocol):
    """A collector that is also asked for values, in the background thread."""

    def read(self) -> Mapping[str, float]:
        """Signal name -> value now. What can't be read now is left out, never zero.

        Raises:
          Unavailable: It turns out only now that it can't run here; it is stopped.
        """


def is_legacy() -> bool:
    """Whether `tf.keras` is legacy Keras in this process: the package `tf_keras`."""
    return os.environ.get("TF_USE_LEGACY_KERAS") in ("true", "True", "1")


def loaded_keras() -> Any | None:
    """The module that `tf.keras` stands for; None where it was not imported."""
    return sys.modules.get("tf_keras" if is_legacy() else "keras")


def import_keras() -> Any:
    """Imports the module that `tf.keras` stands for.

    Raises:
      ImportError: There is none, or one before Keras 3 that is not legacy Keras.
    """
    try:
        keras: Any = importlib.import_module("tf_keras" if is_legacy() else "keras")
    except ImportError as error:
        raise ImportError(
            "tbslow.keras needs Keras 3, which comes with TensorFlow from 2.16 on: "
            'pip install "tb-slowdown-plugin[tf]"'
        ) from error
    if not is_legacy() and int(keras.__version__.partition(".")[0]) < 3:
        raise ImportError(
            f"tbslow.keras needs Keras 3, and this is Keras {keras.__version__}: "
            "pip install -U keras"
        )
    return keras


def find_keras() -> Any:
    """The module whose classes may be hooked: `keras`, or `tf_keras` where that is `tf.keras`.

    Raises:
      Unavailable: Keras has not been imported, so there is nothing of its.
    """
    keras = loaded_keras()
    if keras is None:
        raise Unavailable("Keras was not imported when the monitor was started")
    return keras


def other_backend() -> str | None:
    """What Keras computes with, "JAX" say; None for TensorFlow, and where Keras is not there."""
    keras = loaded_keras()
    try:
        name = str(keras.backend.backend()) if keras is not None else "tensorflow"
    except Exception:  # noqa: BLE001 - it is being imported
        return None
    return None if name == "tensorflow" else _TITLES.get(name, name)


def beside_legacy(state: CollectorState) -> CollectorState:
    """The state of a collector, where a program imports `tf_keras` next to Keras 3."""
    is_partial = state.status == "running" and not state.reason
    if not is_partial or state.name not in _ONLY_HOOKED_KERAS:
        return state
    if is_legacy() or "tf_keras" not in sys.modules:
        return state
    reason = "calls of tf_keras are measured only with TF_USE_LEGACY_KERAS=1"
    return CollectorState(state.name, "running", reason)


def on_backend(state: CollectorState, backend: str | None) -> CollectorState:
    """The state of a collector, where Keras computes with another backend.

    Example:
      >>> on_backend(CollectorState("tracing", "running", ""), "JAX").reason
      'not measured here: Keras runs on JAX'
      >>> on_backend(CollectorState("gc", "running", ""), "JAX").status
      'running'
    """
    if backend is None or state.status != "running":
        return state
    if state.name in _ONLY_TENSORFLOW:
        return CollectorState(
            state.name, "unavailable", f"not measured here: Keras runs on {backend}"
        )
    if state.name in _ONLY_TF_DATA:
        reason = f"only tf.data pipelines are measured: Keras runs on {backend}"
        return CollectorState(state.name, "running", reason)
    return state
