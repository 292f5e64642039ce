"""The training that `run_overhead.py` and `step_parts.py` measure: a Keras fit and a custom loop.

A training has one model, so that all ways to run it share the same memory, and for each
way a function of its own, because the monitor puts operations into the graphs that it
sees traced.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

import tbslow

WARM_STEPS = 10
"""Of each block, before its clocks are read: by then the first sample is taken."""
FIRST_STEPS = 120
"""Of a new function: TensorFlow finds out in some 90 executions which operations are cheap."""


class Cost(NamedTuple):
    """Seconds of one step."""

    training_cpu: float
    """CPU time of the process without the monitor's own threads."""
    background_cpu: float
    """CPU time of the monitor's own threads."""
    wall: float


@dataclass(frozen=True)
class Way:
    """One way to run the training; `disable` is None where it is not monitored."""

    name: str
    disable: tuple[str, ...] | None


class Window:
    """Reads the clocks at the begin and the end of what is measured."""

    def begin(self) -> None:
        """What is measured begins."""
        self._began = self._now()

    def end(self, steps: int) -> Cost:
        """It ends, after so many steps."""
        process, background, wall = (
            (now - then) / steps for now, then in zip(self._now(), self._began, strict=True)
        )
        return Cost(process - background, background, wall)

    def _now(self) -> tuple[float, float, float]:
        background = 0.0
        for thread in threading.enumerate():
            if thread.name.startswith("tbslow") and thread.ident is not None:
                clock = time.pthread_getcpuclockid(thread.ident)
                background += time.clock_gettime(clock)
        return time.process_time(), background, time.perf_counter()


def make_model(width: int) -> keras.Model:
    """Four dense layers, which `fit` can train and a loop can call."""
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(width, activation="relu") for _ in range(3)]
    model = keras.Sequential([keras.Input((width,)), *layers, keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(1e-4), "mse", jit_compile=False)
    return model


def make_data(width: int, batch: int) -> tf.data.Dataset:
    """Endless data that take no time to make."""
    random = np.random.default_rng(0)
    x = tf.constant(random.normal(size=(batch, width)), tf.float32)
    data = tf.data.Dataset.from_tensors((x, tf.reduce_mean(x, 1, keepdims=True)))
    return data.repeat().prefetch(2)


@contextmanager
def monitored(way: Way) -> Iterator[Callable[[], None]]:
    """Runs a block with the monitor of `way`; gives what writes all that is pending."""
    if way.disable is None:
        yield lambda: None
        return
    with (
        tempfile.TemporaryDirectory() as logdir,
        tbslow.start(logdir, disable=way.disable) as monitor,
    ):
        yield monitor.flush


class _Measure(keras.callbacks.Callback):
    """Measures the second epoch of a fit; it has no method that runs for each batch."""

    def __init__(self, steps: int, settle: Callable[[], None]) -> None:
        super().__init__()
        self._window, self._steps, self._settle = Window(), steps, settle

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        """The second epoch begins what is measured."""
        if epoch == 1:
            self._settle()
            self._window.begin()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        """And ends it."""
        if epoch == 1:
            self.cost = self._window.end(self._steps)


class KerasFit:
    """`model.fit`, whose epochs are all of one length: a block is two of them."""

    def __init__(self, width: int, batch: int) -> None:
        self._model, self._data = make_model(width), make_data(width, batch)
        self.functions: dict[Way, Any] = {}

    def trace(self, way: Way) -> None:
        """Makes the function of this way anew, and runs it until it is warm."""
        self.functions[way] = None
        self.run(way, FIRST_STEPS)

    def fit(self, way: Way, steps: int, callbacks: Sequence[Any], epoch: int = 0) -> None:
        """One epoch of so many steps."""
        self._model.train_function = self.functions[way]
        self._model.fit(
            self._data,
            initial_epoch=epoch,
            epochs=epoch + 1,
            steps_per_epoch=steps,
            verbose=0,
            callbacks=list(callbacks),
        )

    def run(self, way: Way, steps: int) -> Cost:
        """A block of so many steps."""
        with monitored(way) as flush:
            measure = _Measure(steps, flush)
            watch = [] if way.disable is None else [tbslow.keras.SlowdownCallback("unused")]
            self.fit(way, WARM_STEPS, [*watch, measure])
            self.functions[way] = self._model.train_function
            self.fit(way, steps, [*watch, measure], epoch=1)
        return measure.cost


class CustomLoop:
    """A loop that fetches in Python and calls a `tf.function`."""

    def __init__(self, width: int, batch: int) -> None:
        self._model, self.data = make_model(width), make_data(width, batch)
        self.functions: dict[Way, Any] = {}

    def trace(self, way: Way) -> None:
        """Makes the function of this way anew, and runs it until it is warm."""
        model = self._model

        @tf.function
        def train(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
            variables = model.trainable_variables
            model.optimizer.apply_gradients(
                zip(tape.gradient(loss, variables), variables, strict=True)
            )
            return loss

        self.functions[way] = train
        self.run(way, FIRST_STEPS)

    def run(self, way: Way, steps: int) -> Cost:
        """A block of so many steps."""
        loop = _run_plain if way.disable is None else _run_watched
        train = self.functions[way]
        with monitored(way) as flush:
            batches = iter(self.data if way.disable is None else tbslow.data(self.data))
            window = Window()
            loop(train, batches, WARM_STEPS)
            flush()
            window.begin()
            loop(train, batches, steps)
            return window.end(steps)


def _run_plain(train: Any, batches: Iterator[Any], count: int) -> None:
    for _ in range(count):
        x, y = next(batches)
        train(x, y)


def _run_watched(train: Any, batches: Iterator[Any], count: int) -> None:
    for _ in range(count):
        x, y = next(batches)
        with tbslow.summary.step():
            train(x, y)


PROGRAMS: dict[str, Callable[[], KerasFit | CustomLoop]] = {
    "fit": lambda: KerasFit(width=512, batch=96),
    "loop": lambda: CustomLoop(width=512, batch=96),
    "tiny-fit": lambda: KerasFit(width=16, batch=16),
    "tiny-loop": lambda: CustomLoop(width=16, batch=16),
}
"""Name -> training; steps of 5 ms on the machine of docs/overhead.md, and of 0.5 ms."""
