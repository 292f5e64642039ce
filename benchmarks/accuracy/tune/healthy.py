"""The programs without a defect: each takes a logdir."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

import numpy as np
import tensorflow as tf

import tbslow
from benchmarks.accuracy.tune.parts import batches, classifier, data, train_step

RANDOM = np.random.default_rng(11)


def fit(logdir, net, dataset, **more):
    callbacks = [tbslow.keras.SlowdownCallback(logdir), *more.pop("callbacks", ())]
    return net.fit(dataset, verbose=0, callbacks=callbacks, **more)


def compiled(width=128):
    net = classifier(width)
    net.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return net


def plain_loop(logdir):
    train = train_step(classifier(512))
    with tbslow.start(logdir):
        for x, y in tbslow.data(batches(800)):
            with tbslow.summary.step():
                train(x, y)


def plain_fit(logdir):
    fit(logdir, compiled(512), batches(200), epochs=4)


def fit_arrays_with_validation(logdir):
    x, y = data(20_000)
    net = compiled(256)
    watch = tbslow.keras.SlowdownCallback(logdir)
    net.fit(x, y, batch_size=100, epochs=4, validation_split=0.1, verbose=0, callbacks=[watch])


def alternating_networks(logdir):
    maker, judge = train_step(classifier(600)), train_step(classifier(200))
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(batches(600)):
            with tbslow.summary.step():
                (maker if i % 3 == 0 else judge)(x, y)


def longer_episodes(logdir):
    net = classifier(64)
    train = train_step(net)

    @tf.function
    def act(x):
        return tf.argmax(net(x, training=False), -1)

    x, y = next(iter(batches(1)))
    with tbslow.start(logdir):
        for episode in range(120):
            with tbslow.summary.step():
                for _ in range(5 + episode // 2):
                    act(x[:1])
                train(x, y)


def three_buckets(logdir):
    cell = tf.keras.layers.GRU(32)
    head = tf.Variable(tf.random.normal([32, 1]))

    @tf.function(reduce_retracing=False)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(cell(x), head))
        head.assign_sub(0.01 * tape.gradient(loss, head))

    with tbslow.start(logdir):
        for _ in range(300):
            with tbslow.summary.step():
                step(tf.random.normal([16, int(RANDOM.choice([10, 20, 40])), 8]))


def longer_sequences(logdir):
    weights = tf.Variable(tf.random.normal([64, 64]))

    @tf.function(input_signature=[tf.TensorSpec([None, 64])])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(tf.matmul(x, weights), weights))
        weights.assign_sub(0.001 * tape.gradient(loss, weights))

    with tbslow.start(logdir):
        for i in range(400):
            rows = 500 + 10 * i
            with tbslow.summary.step(items=rows):
                step(tf.random.normal([rows, 64]))


def accumulated_gradients(logdir):
    net = classifier(400)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy()
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(net.trainable_variables)
    sums = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]

    @tf.function
    def add(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, net(x, training=True))
        for total, grad in zip(sums, tape.gradient(loss, net.trainable_variables), strict=True):
            total.assign_add(grad)

    @tf.function
    def apply():
        optimizer.apply_gradients(zip(sums, net.trainable_variables, strict=True))
        for total in sums:
            total.assign(tf.zeros_like(total))

    with tbslow.start(logdir):
        for i, (x, y) in enumerate(batches(600)):
            with tbslow.summary.step():
                add(x, y)
                if i % 4 == 3:
                    apply()


def scheduled_rate(logdir):
    rate = tf.keras.optimizers.schedules.CosineDecay(0.1, 600)
    train = train_step(classifier(256), tf.keras.optimizers.SGD(rate))
    with tbslow.start(logdir):
        for x, y in batches(600):
            with tbslow.summary.step():
                train(x, y)


def seldom_checkpoints(logdir):
    net = compiled(64)
    path = str(Path(logdir, "best.weights.h5"))
    keep = tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True)
    fit(logdir, net, batches(500), epochs=2, callbacks=[keep])


def tensorboard_each_epoch(logdir):
    board = tf.keras.callbacks.TensorBoard(str(Path(logdir, "board")), update_freq="epoch")
    fit(logdir, compiled(400), batches(300), epochs=3, callbacks=[board])


def evaluation_now_and_then(logdir):
    net = classifier(256)
    train, check = train_step(net), list(batches(3))

    @tf.function
    def score(x):
        return net(x, training=False)

    with tbslow.start(logdir):
        for i, (x, y) in enumerate(batches(600)):
            with tbslow.summary.step():
                train(x, y)
                if i % 100 == 99:
                    for held, _ in check:
                        score(held)


def small_eager_loop(logdir):
    weights = tf.Variable(tf.random.normal([64, 10]))
    with tbslow.start(logdir):
        for x, y in batches(500):
            with tbslow.summary.step():
                with tf.GradientTape() as tape:
                    wrong = tf.matmul(x, weights) - tf.one_hot(y, 10)
                    loss = tf.reduce_mean(tf.square(wrong))
                weights.assign_sub(0.1 * tape.gradient(loss, weights))


def unfreezing(logdir):
    net = classifier(400)
    net.layers[0].trainable = False
    net.compile("sgd", "sparse_categorical_crossentropy")
    fit(logdir, net, batches(250), epochs=2)
    net.layers[0].trainable = True
    net.compile("sgd", "sparse_categorical_crossentropy")
    fit(logdir, net, batches(250), epochs=2)


def two_stages(logdir):
    first, second = train_step(classifier(150)), train_step(classifier(500))
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(batches(700)):
            with tbslow.summary.step():
                (first if i < 300 else second)(x, y)


def prefetched_generator(logdir):
    def rows():
        while True:
            yield RANDOM.random((64, 64), np.float32), RANDOM.integers(0, 10, 64)

    spec = (tf.TensorSpec([64, 64]), tf.TensorSpec([64], tf.int64))
    ds = tf.data.Dataset.from_generator(rows, output_signature=spec).prefetch(8).take(500)
    train = train_step(classifier(800))
    with tbslow.start(logdir):
        for x, y in tbslow.data(ds):
            with tbslow.summary.step():
                train(x, y)


def own_thread_ahead(logdir):
    made: queue.Queue = queue.Queue(16)

    def load():
        for pair in batches(500):
            made.put(pair)

    threading.Thread(target=load, daemon=True).start()
    train = train_step(classifier(800))
    with tbslow.start(logdir):
        for _ in range(500):
            with tbslow.summary.step():
                train(*made.get())


def early_stopping(logdir):
    x, y = data(6_400)
    stop = tf.keras.callbacks.EarlyStopping("loss", patience=2)
    watch = tbslow.keras.SlowdownCallback(logdir)
    compiled(300).fit(x, y, batch_size=64, epochs=6, verbose=0, callbacks=[stop, watch])
