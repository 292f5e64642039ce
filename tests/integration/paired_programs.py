"""Programs with two defects at once, and programs whose steps change on purpose: `NAME LOGDIR`.

Their stopwatches say what each defect took, as in `timed_training`.
"""

from __future__ import annotations

import gc
import json
import queue
import threading
import time
from pathlib import Path

import tensorflow as tf
from called_programs import validation
from timed_training import FEW, SECONDS, compiled, loop, ordinary, run_named, timed
from writing_programs import replay, save_pickle

import tbslow


def adversarial(logdir):
    """Two networks train in turn; a rate is a number of Python's, and collections are forced."""
    kept = [{} for _ in range(600_000)]
    critic, maker = ordinary.model(), ordinary.model()
    optimizers = [ordinary.sgd(critic), ordinary.sgd(maker)]

    def step_of(net, optimizer):
        @tf.function
        def step(x, y, rate):
            with tf.GradientTape() as tape:
                loss = rate * tf.reduce_mean((net(x) - y) ** 2)
            optimizer.apply_gradients(
                zip(
                    tape.gradient(loss, net.trainable_variables),
                    net.trainable_variables,
                    strict=True,
                )
            )

        return step

    steps = [
        step_of(net, optimizer) for net, optimizer in zip((critic, maker), optimizers, strict=True)
    ]
    rate = tf.constant(0.5)
    with tbslow.start(logdir):
        for number, (x, y) in enumerate(ordinary.dataset(240)):
            with tbslow.summary.step():
                if number % 24 == 23:
                    before = time.perf_counter()
                    steps[number % 2](x, y, 1.0 / number)
                    SECONDS["retracing"] += time.perf_counter() - before
                else:
                    steps[number % 2](x, y, rate)
                if number % 10 == 9:
                    with timed("gc.collect"):
                        gc.collect()
    del kept


def longer_episodes(logdir):
    """Episodes get longer, `predict` chooses some actions, and all that was seen is dumped."""
    net, policy = compiled(), ordinary.model(64)
    train = ordinary.train_step(policy, ordinary.sgd(policy))
    batches = list(ordinary.dataset(64))
    kept, path = replay(70_000), Path(logdir, "replay.pkl")
    gc.disable()  # pickling makes many objects
    net.predict(FEW, verbose=0)
    with tbslow.start(logdir):
        for episode in range(150):
            with tbslow.summary.step():
                for move in range(4 + episode // 10):
                    train(*batches[move])
                if episode % 3 == 2:
                    with timed("predict"):
                        net.predict(FEW, verbose=0)
                if episode % 30 == 29:
                    save_pickle(path, kept)


class Diary(tf.keras.callbacks.Callback):
    def __init__(self, logdir):
        super().__init__()
        self.path = Path(logdir, "diary.json")

    def on_train_batch_end(self, batch, logs=None):
        if batch % 10 == 9:
            began = time.perf_counter()
            self.path.write_text(json.dumps(list(range(300_000))))
            SECONDS["diary"] += time.perf_counter() - began


def diary_and_slow_map(logdir):
    """A callback that writes all it knows, and a map in Python that is slower than the step."""

    def load(x, y):
        with timed("input"):
            time.sleep(0.040)
        return x, y

    rows = ordinary.dataset(120)
    shapes = rows.element_spec
    rows = rows.map(lambda x, y: tf.numpy_function(load, [x, y], [tf.float32, tf.float32]))

    def shaped(x, y):
        return tf.ensure_shape(x, shapes[0].shape), tf.ensure_shape(y, shapes[1].shape)

    # Without a buffer before the step, nothing hides what the input takes.
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    rows = rows.map(shaped).with_options(options)
    net = ordinary.model()
    net.compile("sgd", "mse")
    watching = tbslow.keras.SlowdownCallback(logdir)
    net.fit(rows, epochs=2, verbose=0, callbacks=[watching, Diary(logdir)])
    SECONDS["input"] -= SECONDS["diary"]  # while it writes, the next batch is loaded


def validation_and_load(logdir):
    """`evaluate` fills a shuffle buffer anew each time, and the best model is loaded again."""
    net, rows, path = compiled(), validation(True), str(Path(logdir, "best.keras"))
    net.save(path)

    def extra(number):
        if number % 40 == 39:
            with timed("evaluate"):
                net.evaluate(rows, verbose=0)
        if number % 10 == 9:
            with timed("load_model"):
                tf.keras.models.load_model(path)

    loop(logdir, extra, lambda: net.evaluate(rows, verbose=0))


def few_long_steps(logdir):
    """24 steps of about 0.3 s: each waits for 0.5 s more, and every fourth writes a file."""
    net = ordinary.model(64)
    train = ordinary.train_step(net, ordinary.sgd(net))
    kept, path = replay(200_000), Path(logdir, "replay.pkl")
    x, y = next(iter(ordinary.dataset(1)))
    gc.disable()  # pickling makes many objects

    def batches():
        for number in range(24):
            before = time.perf_counter()
            time.sleep(0.5)
            SECONDS["input"] += (time.perf_counter() - before) * bool(number)
            yield x, y

    with tbslow.start(logdir):
        for number, batch in enumerate(tbslow.data(batches())):
            with tbslow.summary.step():
                for _ in range(200):
                    train(*batch)
                if number % 4 == 3:
                    save_pickle(path, kept)


def growth_and_checkpoints(logdir):
    """A memory that is sorted in each step, and grows; a checkpoint every 30 steps."""
    net = ordinary.model(1024)
    train = ordinary.train_step(net, ordinary.sgd(net))
    memory, path = [], str(Path(logdir, "model.weights.h5"))
    gc.freeze()
    with tbslow.start(logdir):
        for number, (x, y) in enumerate(tbslow.data(ordinary.dataset(240))):
            with tbslow.summary.step():
                train(x, y)
                began = time.perf_counter()
                memory.extend(number * 7919 % 10_007 + i % 13 for i in range(300))
                sorted(memory, key=lambda seen: -seen)
                SECONDS["growth"] += time.perf_counter() - began
                if number % 30 == 29:
                    with timed("checkpoint"):
                        for _ in range(8):  # far more than the growth, so that their order is sure
                            net.save_weights(path)


def queue_and_collect(logdir):
    """Steps wait for a thread of the program's own, and collections are forced."""
    jobs, kept = queue.Queue(1), [{} for _ in range(800_000)]

    def work():
        for number in range(240):
            time.sleep(0.4 if number % 24 == 23 else 0.001)
            jobs.put(number)

    threading.Thread(target=work, daemon=True).start()

    def extra(number):
        with timed("wait"):
            jobs.get()
        if number % 30 == 29:
            with timed("gc.collect"):
                gc.collect()

    loop(logdir, extra, jobs.get)
    del kept


def curriculum_healthy(logdir):
    """Sequences become longer in three stages: other work."""
    net = ordinary.model()
    train = ordinary.train_step(net, ordinary.sgd(net))
    stages = [ordinary.dataset(80, batch) for batch in (64, 128, 256)]
    with tbslow.start(logdir):
        for rows in stages:
            for x, y in rows:
                with tbslow.summary.step():
                    train(x, y)


def unfreezing_healthy(logdir):
    """Two stages of a transfer: the upper layer alone, then all, compiled once more."""
    net = ordinary.model()
    for layer in net.layers[:-1]:
        layer.trainable = False
    watching = tbslow.keras.SlowdownCallback(logdir)
    net.compile("sgd", "mse")
    net.fit(ordinary.dataset(60), epochs=2, verbose=0, callbacks=[watching])
    for layer in net.layers:
        layer.trainable = True
    net.compile("sgd", "mse")
    net.fit(ordinary.dataset(60), epochs=2, verbose=0, callbacks=[watching])


if __name__ == "__main__":
    run_named(globals())
