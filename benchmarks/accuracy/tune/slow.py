"""The programs with a defect: each takes a logdir."""

from __future__ import annotations

import csv
import gc
import io
import pickle
import queue
import threading
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

import tbslow
from benchmarks.accuracy.tune.parts import batches, classifier, data, images, train_step

RANDOM = np.random.default_rng(7)


def learning_rate_as_float(logdir):
    net, weights = classifier(), tf.Variable(tf.random.normal([64, 10]))
    assert net is not None

    @tf.function
    def update(x, y, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - tf.one_hot(y, 10)))
        weights.assign_sub(rate * tape.gradient(loss, weights))
        return loss

    with tbslow.start(logdir):
        for i, (x, y) in enumerate(batches(160)):
            with tbslow.summary.step():
                update(x, y, 0.1 * 0.99**i)


def function_in_loop(logdir):
    net = classifier()
    with tbslow.start(logdir):
        for x, _ in batches(120):
            with tbslow.summary.step():

                @tf.function
                def score(x):
                    return tf.reduce_mean(net(x, training=False))

                score(x)


def ragged_sentences(logdir):
    table = tf.Variable(tf.random.normal([500, 32]))

    @tf.function
    def encode(words):
        state = tf.zeros([words.shape[0], 32])
        for i in range(words.shape[1]):
            state = tf.tanh(state + tf.gather(table, words[:, i]))
        return tf.reduce_sum(state)

    with tbslow.start(logdir):
        for _ in range(150):
            words = RANDOM.integers(0, 500, (16, int(RANDOM.integers(5, 60))))
            with tbslow.summary.step():
                encode(tf.constant(words))


def jit_of_any_length(logdir):
    kernel = tf.Variable(tf.random.normal([32, 32]))

    @tf.function(jit_compile=True, reduce_retracing=True)
    def mix(x):
        for _ in range(4):
            x = tf.nn.softmax(tf.matmul(x, kernel))
        return tf.reduce_sum(x)

    with tbslow.start(logdir):
        for _ in range(120):
            rows = int(RANDOM.integers(20, 400))
            with tbslow.summary.step():
                mix(tf.random.normal([rows, 32]))


def predict_for_a_plot(logdir):
    net, seen = classifier(), []
    train = train_step(net)
    sample = RANDOM.random((1, 64)).astype("float32")
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(batches(150)):
            with tbslow.summary.step():
                train(x, y)
                if i % 2 == 0:
                    seen.append(net.predict(sample, verbose=0)[0, 0])


def fit_on_each_sample(logdir):
    net = classifier()
    net.compile("sgd", "sparse_categorical_crossentropy")
    x, y = data(80)
    with tbslow.start(logdir):
        for i in range(80):
            with tbslow.summary.step():
                net.fit(x[i : i + 1], y[i : i + 1], epochs=1, verbose=0)


def csv_generator(logdir):
    text = "\n".join(",".join(map(str, row)) for row in RANDOM.random((400, 64)))

    def rows():
        for _ in range(40):
            for row in csv.reader(io.StringIO(text)):
                yield np.array([float(v) for v in row], "float32"), 1

    spec = (tf.TensorSpec([64]), tf.TensorSpec([], tf.int64))
    ds = tf.data.Dataset.from_generator(rows, output_signature=spec).batch(64)
    net = classifier()
    net.compile("adam", "sparse_categorical_crossentropy")
    net.fit(ds.take(200), verbose=0, callbacks=[tbslow.keras.SlowdownCallback(logdir)])


def augment_in_python(logdir):
    def augment(image, label):
        noisy = np.asarray(image)
        for _ in range(6):
            noisy = np.flip(np.sort(noisy + RANDOM.random(noisy.shape), axis=0), axis=1)
        return noisy.astype("float32"), label

    x, y = images(128)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).repeat()
    ds = ds.map(lambda a, b: tf.numpy_function(augment, [a, b], [tf.float32, tf.int64]))
    ds = ds.map(lambda a, b: (tf.reshape(a, [64]), tf.reshape(b, []))).batch(32).take(200)
    train = train_step(classifier())
    with tbslow.start(logdir):
        for x, y in tbslow.data(ds):
            with tbslow.summary.step():
                train(x, y)


def shuffled_evaluation(logdir):
    def slow(i):
        time.sleep(0.002)
        return np.float32(i)

    rows = tf.data.Dataset.range(300).map(lambda i: tf.numpy_function(slow, [i], tf.float32))
    check = rows.map(lambda v: (tf.fill([64], v), 0)).shuffle(300).batch(64)
    net = classifier()
    net.compile("adam", "sparse_categorical_crossentropy")
    watch = tbslow.keras.SlowdownCallback(logdir)
    net.fit(batches(60), epochs=6, validation_data=check, verbose=0, callbacks=[watch])


def weights_every_batch(logdir):
    net = classifier(1500)
    net.compile("sgd", "sparse_categorical_crossentropy")
    path = str(Path(logdir, "w.weights.h5"))
    keep = tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True, save_freq=4)
    watch = tbslow.keras.SlowdownCallback(logdir)
    net.fit(batches(120), verbose=0, callbacks=[keep, watch])


class Confusion(tf.keras.callbacks.Callback):
    """Counts in Python, after each batch."""

    def on_train_batch_end(self, batch, logs=None):
        table = {}
        for a in range(120):
            for b in range(120):
                table[a, b] = table.get((b, a), 0) + (a * b) % 7


def metrics_callback(logdir):
    net = classifier()
    net.compile("adam", "sparse_categorical_crossentropy")
    watch = tbslow.keras.SlowdownCallback(logdir)
    net.fit(batches(250), verbose=0, callbacks=[Confusion(), watch])


def histograms(logdir):
    net = classifier(800)
    train = train_step(net)
    writer = tf.summary.create_file_writer(str(Path(logdir, "scalars")))
    with tbslow.start(logdir), writer.as_default():
        for i, (x, y) in enumerate(batches(150)):
            with tbslow.summary.step():
                train(x, y)
                for weight in net.weights:
                    tf.summary.histogram(weight.path, weight, step=i)


def collect_by_hand(logdir):
    kept = [[i] for i in range(600_000)]
    train = train_step(classifier())
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(batches(200)):
            with tbslow.summary.step():
                train(x, y)
                if i % 5 == 0:
                    gc.collect()
    del kept


def sorted_memory(logdir):
    train, memory = train_step(classifier()), []
    with tbslow.start(logdir):
        for x, y in batches(300):
            with tbslow.summary.step():
                memory.extend(RANDOM.random(400).tolist())
                best = sorted(memory, key=lambda v: -v)[:32]
                train(x, y)
    assert best


def new_optimizer(logdir):
    net = classifier()
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy()
    with tbslow.start(logdir):
        for x, y in batches(120):
            with tbslow.summary.step():
                optimizer = tf.keras.optimizers.Adam(1e-3)
                with tf.GradientTape() as tape:
                    loss = loss_of(y, net(x, training=True))
                weights = net.trainable_variables
                optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))


def pickled_history(logdir):
    train, history = train_step(classifier()), []
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(batches(240)):
            with tbslow.summary.step():
                train(x, y)
                history.extend({"step": i, "values": RANDOM.random(8)} for _ in range(400))
                if i % 30 == 29:
                    with Path(logdir, "history.pkl").open("wb") as file:
                        pickle.dump(history, file)


def worker_queue(logdir):
    made: queue.Queue = queue.Queue(2)

    def load():
        for x, y in batches(160):
            time.sleep(0.08)
            made.put((x, y))

    threading.Thread(target=load, daemon=True).start()
    train = train_step(classifier())
    with tbslow.start(logdir):
        for _ in range(160):
            with tbslow.summary.step():
                train(*made.get())


def heavier_from_the_middle(logdir):
    train = train_step(classifier())
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(batches(500)):
            with tbslow.summary.step():
                train(x, y)
                if i >= 250:
                    sum(v * v % 7 for v in range(150_000))
