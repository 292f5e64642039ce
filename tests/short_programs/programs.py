"""Short programs: 12 to 60 long steps with one defect each, and blind spots; `NAME LOGDIR`.

The answers were written down before the programs were recorded (`test_short_programs.py`).
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

import tbslow

RANDOM = np.random.default_rng(0)


@tf.function
def heavy(x):
    for _ in tf.range(6):
        x = tf.matmul(x, x) / 30.0
    return tf.reduce_sum(x)


def slow_numbers(count, seconds):
    def slow(i):
        time.sleep(seconds)
        return np.float32(i)

    return tf.data.Dataset.range(count).map(lambda i: tf.numpy_function(slow, [i], tf.float32))


def loop(logdir, count, extra=lambda step: None):
    x = tf.random.normal([900, 900])
    with tbslow.start(logdir):
        for i in range(count):
            with tbslow.summary.step():
                heavy(x).numpy()
                extra(i)


def fit(logdir, optimizer, **more):
    dense = tf.keras.layers.Dense
    model = tf.keras.Sequential([dense(2000), dense(2000), dense(1)])
    model.compile(optimizer, "mse")
    x, y = RANDOM.random((30 * 256, 500)), RANDOM.random((30 * 256, 1))
    callbacks = [tbslow.keras.SlowdownCallback(logdir), *more.pop("callbacks", ())]
    model.fit(x, y, batch_size=256, verbose=0, callbacks=callbacks, **more)


def tf1_waiting(logdir):
    """A session whose input waits inside `session.run`."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session, tbslow.start(logdir):
        iterator = v1.data.make_initializable_iterator(slow_numbers(10**6, 0.06))
        weight = v1.get_variable("w", [])
        train = weight.assign_add(tf.reshape(iterator.get_next(), []) * 0.0)
        session.run([v1.global_variables_initializer(), iterator.initializer])
        for _ in range(150):
            with tbslow.summary.step():
                session.run(train)


def traced_earlier(logdir):
    """A step that fetches inside a function that was traced before the monitor started."""
    iterator = iter(slow_numbers(10_000, 0.03))
    total = tf.Variable(0.0)

    @tf.function
    def step(iterator):
        total.assign_add(tf.reshape(next(iterator), []) * 0.0)

    step(iterator)
    with tbslow.start(logdir):
        for _ in range(120):
            with tbslow.summary.step():
                step(iterator)


def env_process(logdir):
    """An environment in another process, on which each step waits."""
    theirs, ours = multiprocessing.Pipe()
    child = os.fork()
    if child == 0:
        while True:
            theirs.recv()
            time.sleep(0.05)
            theirs.send(1)
    x = tf.ones([200, 200])
    with tbslow.start(logdir):
        for _ in range(40):
            with tbslow.summary.step():
                for _ in range(3):
                    ours.send(1)
                    ours.recv()
                    tf.reduce_sum(tf.matmul(x, x)).numpy()
    os.kill(child, 9)


def trials(logdir):
    """A step is a trial: a new model each time."""
    x, y = RANDOM.random((64, 16)), RANDOM.random((64, 1))
    with tbslow.start(logdir):
        for i in range(12):
            with tbslow.summary.step():
                dense = tf.keras.layers.Dense
                model = tf.keras.Sequential([dense(8 + i, activation="relu"), dense(1)])
                model.compile("adam", "mse")
                model.fit(x, y, batch_size=32, epochs=1, verbose=0)


def tracing12(logdir):
    @tf.function
    def step(x, n):
        for _ in range(250):
            x = tf.sin(x) * n
        return x

    with tbslow.start(logdir):
        for i in range(12):
            with tbslow.summary.step():
                step(tf.ones([10]), float(i))


def checkpoint12(logdir):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(tf.random.normal([6000, 2000])))
    loop(logdir, 12, lambda _: checkpoint.write(str(Path(logdir, "ck"))))


def gc30(logdir):
    kept = [{} for _ in range(1_500_000)]
    loop(logdir, 30, lambda _: gc.collect())
    del kept


def input12(logdir):
    x = tf.random.normal([900, 900])
    with tbslow.start(logdir):
        batches = iter(tbslow.data(slow_numbers(100, 0.5)))
        for _ in range(12):
            next(batches)
            with tbslow.summary.step():
                heavy(x).numpy()


def optimizer12(logdir):
    weights = [tf.Variable(tf.random.normal([300, 300])) for _ in range(60)]
    gradients = [tf.ones([300, 300]) for _ in weights]
    adam = tf.keras.optimizers.Adam
    loop(logdir, 12, lambda _: adam().apply_gradients(zip(gradients, weights, strict=True)))


def predict12(logdir):
    model = tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
    row = np.ones((1, 4), np.float32)
    model.predict(row, verbose=0)
    loop(logdir, 12, lambda _: [model.predict(row, verbose=0) for _ in range(3)])


def callback30(logdir):
    class Slow(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            time.sleep(0.06)

    fit(logdir, "sgd", callbacks=[Slow()])


def summaries12(logdir):
    writer = tf.summary.create_file_writer(str(Path(logdir, "s")))
    image = tf.random.uniform([4, 600, 600, 3])

    def write(i):
        with writer.as_default():
            tf.summary.image("x", image, step=i)
        writer.flush()

    loop(logdir, 12, write)


def healthy12(logdir):
    loop(logdir, 12)


def healthy60(logdir):
    loop(logdir, 60)


def healthy_fit30(logdir):
    fit(logdir, "adam")


def healthy_fit_epochs(logdir):
    model = tf.keras.Sequential([tf.keras.layers.Dense(64), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    x, y = RANDOM.random((1000, 50)), RANDOM.random((1000, 1))
    callbacks = [tbslow.keras.SlowdownCallback(logdir)]
    model.fit(x, y, batch_size=64, epochs=8, verbose=0, validation_split=0.2, callbacks=callbacks)


def last_batch(logdir):
    """The last batch of each epoch is smaller: one more trace."""
    weight = tf.Variable(tf.random.normal([400, 400]))

    @tf.function
    def step(x):
        y = x
        for _ in range(40):
            y = tf.tanh(y @ weight)
        weight.assign_sub(1e-6 * tf.transpose(y) @ x)
        return tf.reduce_mean(y)

    data = RANDOM.random((64 * 20 + 17, 400)).astype(np.float32)
    batches = tf.data.Dataset.from_tensor_slices(data).batch(64)
    with tbslow.start(logdir):
        for _ in range(4):
            for batch in tbslow.data(batches):
                with tbslow.summary.step():
                    step(batch)


def generalising(logdir):
    """Text of another length from step 120 on: one trace for all lengths."""
    weight = tf.Variable(tf.random.normal([50, 50]))
    random = np.random.default_rng(0)

    @tf.function(reduce_retracing=True)
    def step(x):
        for _ in range(60):
            x = tf.tanh(x @ weight)
        return tf.reduce_mean(x)

    with tbslow.start(logdir):
        for i in range(200):
            length = 235 if i < 120 else int(random.integers(150, 235))
            x = tf.constant(random.random((1, length, 50)), tf.float32)
            with tbslow.summary.step():
                step(x)


def episodes(logdir):
    """Episodes that get longer, and say so."""
    x = tf.random.normal([500, 500])
    with tbslow.start(logdir):
        for episode in range(60):
            calls = 2 + episode // 6
            with tbslow.summary.step(items=calls):
                for _ in range(calls):
                    heavy(x).numpy()


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
