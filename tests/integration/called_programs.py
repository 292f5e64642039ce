"""Short programs whose own code calls something costly, and their healthy twins: `NAME LOGDIR`.

The twins end in `_healthy`.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path

import numpy as np
import tensorflow as tf
from timed_training import EPOCH, FEW, STEPS, compiled, loop, ordinary, run_named, timed

import tbslow

LABELS = np.ones((4, 1), np.float32)


def fit(logdir, *callbacks):
    net = ordinary.model()
    net.compile("sgd", "mse")
    watching = tbslow.keras.SlowdownCallback(logdir)
    net.fit(ordinary.dataset(STEPS // 2), epochs=2, verbose=0, callbacks=[watching, *callbacks])


class Plotter(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 8 == 7:
            with timed("predict"):
                self.model.predict(FEW, verbose=0)


class Calls(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 8 == 7:
            self.model.predict_on_batch(FEW)


def predict_in_callback(logdir):
    fit(logdir, Plotter())


def predict_in_callback_healthy(logdir):
    fit(logdir, Calls())


def predict_in_loop(logdir):
    net = compiled()

    def extra(_):
        with timed("predict"):
            net.predict(FEW, verbose=0)

    loop(logdir, extra, lambda: net.predict(FEW, verbose=0))


def predict_in_loop_healthy(logdir):
    net = compiled()
    loop(logdir, lambda _: net.predict_on_batch(FEW), lambda: net.predict_on_batch(FEW))


def fit_in_loop(logdir):
    net = compiled()

    def extra(number):
        if number % 3 == 0:
            with timed("fit"):
                net.fit(FEW, LABELS, verbose=0)

    loop(logdir, extra, lambda: net.fit(FEW, LABELS, verbose=0))


def fit_in_loop_healthy(logdir):
    net = compiled()
    net.train_on_batch(FEW, LABELS)
    loop(logdir, lambda _: net.train_on_batch(FEW, LABELS))


def clear_session(logdir):
    kept = [{} for _ in range(400_000)]

    def extra(number):
        if number % EPOCH == 0:
            with timed("clear_session"):
                tf.keras.backend.clear_session()

    loop(logdir, extra)
    del kept


def clear_session_healthy(logdir):
    kept = [{} for _ in range(400_000)]
    tf.keras.backend.clear_session()
    loop(logdir, lambda _: None)
    del kept


def load_model(logdir):
    path = str(Path(logdir, "model.keras"))
    compiled().save(path)

    def extra(number):
        if number % EPOCH == 0:
            with timed("load_model"):
                tf.keras.models.load_model(path)

    loop(logdir, extra)


def load_model_healthy(logdir):
    net, path = compiled(), str(Path(logdir, "model.weights.h5"))
    net.save_weights(path)
    loop(logdir, lambda number: number % EPOCH or net.load_weights(path))


def validation(shuffle):
    def load(number):
        time.sleep(0.001)
        return np.float32(number)

    rows = tf.data.Dataset.range(400)
    rows = rows.map(lambda i: tf.numpy_function(load, [i], tf.float32))
    rows = rows.map(lambda v: (tf.fill([ordinary.FEATURES], v / 400), tf.fill([1], v)))
    return rows.shuffle(400).batch(100) if shuffle else rows.batch(100).cache()


def evaluate(logdir, shuffle=True):
    net, rows = compiled(), validation(shuffle)

    def extra(number):
        if number % EPOCH == 0:
            with timed("evaluate"):
                net.evaluate(rows, verbose=0)

    loop(logdir, extra, lambda: net.evaluate(rows, verbose=0))


def evaluate_healthy(logdir):
    evaluate(logdir, shuffle=False)


def slow_batches():
    """Batches that Python makes while the step waits: nothing hides what they take."""
    for number, batch in enumerate(ordinary.dataset(STEPS)):
        if number:
            with timed("input"):
                time.sleep(0.030)
        yield batch


def predict_and_input(logdir):
    """Two defects: `predict` in the loop, and input that is slower than the step."""
    net = compiled()

    def extra(number):
        if number % 4 == 0:
            with timed("predict"):
                net.predict(FEW, verbose=0)

    loop(logdir, extra, lambda: net.predict(FEW, verbose=0), tbslow.data(slow_batches()))


def collect_and_retrace(logdir):
    """Two defects: `gc.collect` in the loop, and a number as an argument."""
    kept = [{} for _ in range(1_000_000)]

    @tf.function
    def scaled(x, number):
        for _ in range(100):
            x = tf.sin(x) * number
        return x

    def extra(number):
        if number % 3 == 0:
            with timed("gc.collect"):
                gc.collect()
        if number % 24 == 0:
            with timed("retracing"):
                scaled(tf.ones([8]), float(number))

    loop(logdir, extra, lambda: scaled(tf.ones([8]), 0.5))
    del kept


def norm_of(parts, variables):
    """Sums up one small operation after the other, started by Python or in one graph."""
    total = tf.constant(0.0)
    for _ in range(parts):
        for variable in variables:
            total += tf.reduce_sum(variable * variable)
    return total


def eager_in_loop(logdir, norm=norm_of):
    weights = [tf.Variable(tf.ones((8,))) for _ in range(6)]

    def extra(_):
        with timed("norm"):
            norm(20, weights)

    # By samples: so many that a quarter is four times their error.
    loop(logdir, extra, lambda: norm(20, weights), ordinary.dataset(2 * STEPS))


def eager_in_loop_healthy(logdir):
    eager_in_loop(logdir, tf.function(norm_of))


def mean_of(kept):
    return float(tf.reduce_mean(tf.concat(kept, 0)))


def history_in_loop(logdir):
    """All rows so far are put together in each step."""
    rows = tf.ones((1024, 64))
    kept = [rows]

    def extra(_):
        kept.append(rows + 1.0)
        with timed("mean"):
            mean_of(kept)

    # Memory is sampled a few times a second: a run of three seconds shows too little of its growth.
    loop(logdir, extra, lambda: mean_of(kept), ordinary.dataset(2 * STEPS))


def history_in_loop_healthy(logdir):
    """The sum of the means so far is all that is kept."""
    means = []
    rows = tf.ones((1024, 64))
    mean_of_new = tf.function(lambda: tf.reduce_mean(rows + 1.0))
    data = ordinary.dataset(2 * STEPS)
    loop(logdir, lambda _: means.append(float(mean_of_new())), mean_of_new, data)


def weights_of(errors):
    return [abs(error) ** 0.6 for error in errors]


def weights_in_loop(logdir, weigh=weights_of, make=list):
    """The weights of a whole memory in each step, one after another."""
    errors = make(np.linspace(-1.0, 1.0, 80_000).tolist())

    def extra(_):
        with timed("weigh"):
            weigh(errors)

    loop(logdir, extra, data=ordinary.dataset(6 * STEPS))  # its seconds are told by samples


def weights_in_loop_healthy(logdir):
    weights_in_loop(logdir, lambda errors: np.abs(errors) ** 0.6, np.array)


def list_in_loop(logdir, convert=tf.convert_to_tensor):
    """A list becomes a tensor in each step, and TensorFlow looks at each of its elements."""
    values = np.linspace(-1.0, 1.0, 30_000).tolist()

    def draw(_):
        with timed("draw"):
            convert(values, tf.float32)

    loop(logdir, draw, data=ordinary.dataset(6 * STEPS))  # its seconds are told by samples


def list_in_loop_healthy(logdir):
    list_in_loop(logdir, tf.constant)


if __name__ == "__main__":
    run_named(globals())
