"""A small Keras training for tests: batches that may be slow, a model, and the run that it left."""

from __future__ import annotations

import time

import pytest

tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

import tbslow  # noqa: E402
from tb_slowdown_plugin.reader.logdir import read_runs  # noqa: E402

BATCHES = 8
DELAY = 0.010

MARKS = [
    pytest.mark.tensorflow,
    pytest.mark.usefixtures("no_monitor_is_left"),
    # Keras says so of every tf.data.Dataset, by default.
    pytest.mark.filterwarnings("ignore:.*shuffle=True. was passed, but will be ignored"),
    pytest.mark.filterwarnings("ignore:Your input ran out of data"),
    # Keras's TensorBoard callback, with NumPy 2.
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
"""Of each module that fits."""


class Slow(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(DELAY / 2)

    def on_epoch_end(self, epoch, logs=None):
        time.sleep(2 * DELAY)


def slow(x):
    time.sleep(DELAY)
    return x


def pairs(delayed=False, batches=BATCHES):
    x = tf.data.Dataset.range(batches)
    if delayed:
        x = x.map(lambda i: tf.numpy_function(slow, [i], tf.int64))
    return x.map(as_pair)


def as_pair(i):
    return tf.ones((4, 8)), tf.ones((4, 1))


def model(**compiled):
    made = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    made.compile("sgd", "mse", **compiled)
    return made


def read(logdir):
    """The only run with records in a logdir, after its monitor was stopped."""
    tbslow.stop()
    (run,) = (each for each in read_runs(str(logdir), warn=pytest.fail) if each.drawn_from is None)
    return run
