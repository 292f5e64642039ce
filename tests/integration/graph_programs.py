"""Short programs whose step computes what it doesn't need, and their healthy twins: `NAME LOGDIR`.

The twins end in `_healthy`.
"""

from __future__ import annotations

import contextlib
import time

import numpy as np
import tensorflow as tf
from timed_training import SECONDS, run_named

import tbslow


@contextlib.contextmanager
def steady(number):
    """Times a step behind the first ones, also in CPU time, of which a neighbor takes none."""
    began, began_cpu = time.perf_counter(), time.process_time()
    yield
    if number >= 10:
        SECONDS["train"] += time.perf_counter() - began
        SECONDS["train_cpu"] += time.process_time() - began_cpu


def head_on_fixed_encoder(logdir, asked="all"):
    """Only the head is updated, and gradients of all are clipped."""
    encoder = tf.keras.Sequential([tf.keras.layers.Dense(1024, "relu") for _ in range(3)])
    head = tf.keras.layers.Dense(1)
    optimizer = tf.keras.optimizers.SGD(0.01)

    @tf.function
    def train(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((head(encoder(x)) - y) ** 2)
        variables = head.trainable_variables
        if asked == "all":
            variables = encoder.trainable_variables + variables
        gradients, _ = tf.clip_by_global_norm(tape.gradient(loss, variables), 1.0)
        optimizer.apply_gradients(zip(gradients[-2:], head.trainable_variables, strict=True))
        return loss

    x, y = tf.random.normal((256, 64)), tf.random.normal((256, 1))
    encoder(x), head(encoder(x))
    with tbslow.start(logdir):
        for number in range(200):
            with tbslow.summary.step(), steady(number):
                train(x, y).numpy()


def head_on_fixed_encoder_healthy(logdir):
    head_on_fixed_encoder(logdir, "head")


def look_up(table, ids):
    return tf.gather(tf.math.l2_normalize(table, axis=1), ids)


def table_before_lookup(logdir, look_up=look_up):
    """All rows of a table are normalized, and 256 are looked up."""
    table = tf.Variable(tf.random.normal((60_000, 64)))
    layer = tf.keras.layers.Dense(1024)
    layer.build((None, 64))
    optimizer = tf.keras.optimizers.SGD(0.01)

    @tf.function
    def train(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(layer(look_up(table, ids)) ** 2)
        variables = [table, *layer.trainable_variables]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    with tbslow.start(logdir):
        for number in range(300):
            ids = tf.random.uniform((256,), 0, 60_000, tf.int32)
            with tbslow.summary.step(), steady(number):
                train(ids).numpy()


def table_before_lookup_healthy(logdir):
    table_before_lookup(
        logdir, lambda table, ids: tf.math.l2_normalize(tf.gather(table, ids), axis=1)
    )


def metrics_again(logdir, report=lambda layers, x, _: layers(x)):
    """The metric of each batch is that of another pass, after the update."""
    layers = tf.keras.Sequential([tf.keras.layers.Dense(768, "relu") for _ in range(4)])
    layers.build((None, 768))
    optimizer = tf.keras.optimizers.SGD(0.001)
    metric = tf.keras.metrics.Mean()

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            outputs = layers(x)
            loss = tf.reduce_mean(outputs**2)
        variables = layers.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        metric.update_state(report(layers, x, outputs))
        return loss

    x = tf.random.normal((256, 768))
    with tbslow.start(logdir):
        for number in range(200):
            with tbslow.summary.step(), steady(number):
                train(x).numpy()


def metrics_again_healthy(logdir):
    metrics_again(logdir, lambda _layers, _x, outputs: outputs)


def shift(images, direction):
    return images + 0.02 * tf.sign(direction)


def sign_in_tape(logdir, shift=shift):
    """Examples are made adversarial inside of the tape that trains."""
    layers = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(48, 3, activation="relu"),
            tf.keras.layers.Conv2D(48, 3, activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(1),
        ]
    )
    layers.build((None, 24, 24, 3))
    optimizer = tf.keras.optimizers.SGD(0.001)

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                clean = tf.reduce_mean(layers(x) ** 2)
            loss = tf.reduce_mean(layers(shift(x, inner.gradient(clean, x))) ** 2)
        variables = layers.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    x = tf.random.normal((32, 24, 24, 3))
    with tbslow.start(logdir):
        for number in range(200):
            with tbslow.summary.step(), steady(number):
                train(x).numpy()


def sign_in_tape_healthy(logdir):
    sign_in_tape(logdir, lambda images, direction: shift(images, tf.stop_gradient(direction)))


def factorize_twice(covariance, y):
    product = tf.linalg.inv(covariance) @ y
    eigenvalues = tf.linalg.eigvalsh(covariance)
    return product, tf.reduce_sum(tf.math.log(eigenvalues))


def factorize_once(covariance, y):
    factor = tf.linalg.cholesky(covariance)
    logs = tf.math.log(tf.linalg.diag_part(factor))
    return tf.linalg.cholesky_solve(factor, y), 2 * tf.reduce_sum(logs)


def covariance_twice(logdir, factorize=factorize_twice):
    """A Gaussian process inverts its covariance, and takes its eigenvalues."""
    layer = tf.keras.layers.Dense(6, "tanh")
    layer.build((None, 8))
    optimizer = tf.keras.optimizers.SGD(0.0001)

    @tf.function
    def train(x, y):
        with tf.GradientTape() as tape:
            features = layer(x)
            covariance = tf.matmul(features, features, transpose_b=True) + tf.eye(400)
            product, log_determinant = factorize(covariance, y)
            loss = tf.reduce_sum(y * product) + log_determinant
        variables = layer.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    x, y = tf.random.normal((400, 8)), tf.random.normal((400, 1))
    with tbslow.start(logdir):
        for number in range(300):
            with tbslow.summary.step(), steady(number):
                train(x, y).numpy()


def covariance_twice_healthy(logdir):
    covariance_twice(logdir, factorize_once)


def histograms_in_graph(logdir, every=1):
    """Histograms of all weights are written inside of the step's graph."""
    layers = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu") for _ in range(2)])
    layers.build((None, 256))
    optimizer = tf.keras.optimizers.SGD(0.001)
    count = tf.Variable(0, dtype=tf.int64)
    writer = tf.summary.create_file_writer(f"{logdir}/weights")

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(layers(x) ** 2)
        variables = layers.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        with writer.as_default(step=count), tf.summary.record_if(every == 1 or count % every == 0):
            for variable in variables:
                tf.summary.histogram(variable.path, variable)
        count.assign_add(1)
        return loss

    x = tf.random.normal((64, 256))
    with tbslow.start(logdir):
        for number in range(300):
            with tbslow.summary.step(), steady(number):
                train(x).numpy()


def histograms_in_graph_healthy(logdir):
    histograms_in_graph(logdir, every=100)


def summaries_of_session(logdir, every=1):
    """A session of TensorFlow 1 fetches its summaries in each run."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = hidden = v1.placeholder(tf.float32, (None, 256))
        for number in range(2):
            weights = v1.get_variable(f"weights{number}", (hidden.shape[1], 512))
            v1.summary.histogram(f"weights{number}", weights)
            hidden = tf.nn.relu(tf.matmul(hidden, weights))
        train = v1.train.GradientDescentOptimizer(0.001).minimize(tf.reduce_mean(hidden**2))
        merged = v1.summary.merge_all()
        writer = v1.summary.FileWriter(f"{logdir}/weights")
        session.run(v1.global_variables_initializer())
        data = np.random.default_rng(0).normal(size=(64, 256)).astype(np.float32)
        with tbslow.start(logdir):
            for number in range(400):
                with tbslow.summary.step(), steady(number):
                    if number % every == 0:
                        writer.add_summary(session.run([merged, train], {x: data})[0], number)
                    else:
                        session.run(train, {x: data})


def summaries_of_session_healthy(logdir):
    summaries_of_session(logdir, every=100)


if __name__ == "__main__":
    run_named(globals())
