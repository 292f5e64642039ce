"""The training that `run_overhead.py` and `step_parts.py` measure: a Keras fit and a loop."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

import tbslow

PROGRAMS: Final = {
    "fit": (512, 96),
    "loop": (512, 96),
    "short-fit": (192, 64),
    "short-loop": (192, 64),
    "tiny-fit": (16, 16),
    "tiny-loop": (16, 16),
    "longer-fit": (512, 128),
    "longer-loop": (512, 128),
    "long-fit": (1024, 112),
    "long-loop": (1024, 112),
}
"""Name -> width of the layers, and examples in a batch: steps of some 5 ms on the machine of
docs/overhead.md, of 1 ms, 0.5 ms, 7 ms, and 25 ms."""


@dataclass(frozen=True)
class Way:
    """One way to run the training; `disable` is None where it is not monitored."""

    name: str
    disable: tuple[str, ...] | None


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


def make_train(model: keras.Model) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
    """The step of a loop of one's own, not traced yet."""

    @tf.function
    def train(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
        variables = model.trainable_variables
        model.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return train


@contextmanager
def monitored(way: Way) -> Iterator[None]:
    """Runs a block with the monitor of `way`."""
    if way.disable is None:
        yield
        return
    with tempfile.TemporaryDirectory() as logdir, tbslow.start(logdir, disable=way.disable):
        yield


class KerasFit:
    """`model.fit`, with a train function for each way: the monitor puts operations into graphs."""

    def __init__(self, width: int, batch: int) -> None:
        self._model, self._data = make_model(width), make_data(width, batch)
        self.functions: dict[Way, Any] = {}

    def trace(self, way: Way, steps: int) -> None:
        """Makes the function of this way anew, and runs it for so many steps."""
        self.functions[way] = None
        with monitored(way):
            self.fit(way, steps, [tbslow.keras.SlowdownCallback("unused")])
        self.functions[way] = self._model.train_function

    def fit(self, way: Way, steps: int, callbacks: Sequence[Any]) -> None:
        """One epoch of so many steps."""
        self._model.train_function = self.functions[way]
        self._model.fit(self._data, steps_per_epoch=steps, verbose=0, callbacks=list(callbacks))


class CustomLoop:
    """A loop that fetches in Python and calls a `tf.function`."""

    def __init__(self, width: int, batch: int) -> None:
        self._model, self.data = make_model(width), make_data(width, batch)
        self.functions: dict[Way, Any] = {}

    def trace(self, way: Way, steps: int) -> None:
        """Makes the function of this way anew, and runs it for so many steps."""
        self.functions[way] = train = make_train(self._model)
        with monitored(way):
            for _, (x, y) in zip(range(steps), self.data, strict=False):
                train(x, y)
