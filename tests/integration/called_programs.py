"""Short programs whose own code calls something costly, and their healthy twins: `NAME LOGDIR`.

Each times its calls with a stopwatch of its own, and prints what they took as JSON:

    {"seconds": {"predict": 4.2}, "line": {"predict": 61}}

The twins end in `_healthy`.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import pickle
import queue
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))

import numpy as np
import ordinary
import tensorflow as tf

import tbslow

FEW, LABELS = np.ones((4, ordinary.FEATURES), np.float32), np.ones((4, 1), np.float32)
SECONDS = defaultdict(float)
LINES: dict[str, int] = {}
STEPS = 240
EPOCH = 40


@contextlib.contextmanager
def timed(call):
    """Times what the next line of the program calls."""
    LINES[call] = sys._getframe(2).f_lineno + 1
    began = time.perf_counter()
    yield
    SECONDS[call] += time.perf_counter() - began


def compiled(width=64):
    net = ordinary.model(width)
    net.compile("sgd", "mse")
    return net


def loop(logdir, extra, before=lambda: None, data=None):
    net = ordinary.model()
    train = ordinary.train_step(net, ordinary.sgd(net))
    with tbslow.start(logdir):
        for number, (x, y) in enumerate(data or ordinary.dataset(STEPS)):
            with tbslow.summary.step():
                train(x, y)
                if number == 0:
                    before()  # what runs for the first time is warm-up
                else:
                    extra(number)


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


def replay(count):
    return [np.full(50, number, np.float32) for number in range(count)]


def save_pickle(path, kept):
    with path.open("wb") as file, timed("write"):
        pickle.dump(kept, file)


def pickle_in_loop(logdir):
    kept, path = replay(100_000), Path(logdir, "replay.pkl")

    def extra(number):
        if number % EPOCH == 0:
            save_pickle(path, kept)

    loop(logdir, extra)


def pickle_in_loop_healthy(logdir):
    """A file of a few rows."""
    kept, path = replay(20), Path(logdir, "replay.pkl")
    loop(logdir, lambda number: number % EPOCH or save_pickle(path, kept))


def synced_log(logdir, megabytes=16):
    """A log whose every block must be on the disk before training goes on."""
    block = os.urandom(megabytes << 20)
    with Path(logdir, "log.bin").open("wb") as file:

        def extra(number):
            if number % EPOCH == 0:
                with timed("write"):
                    write(file, block)

        loop(logdir, extra)


def write(file, block):
    for _ in range(40):
        file.seek(0)
        file.write(block)
        file.flush()
        os.fsync(file.fileno())


def synced_log_healthy(logdir):
    synced_log(logdir, 0)


def pickle_and_collect(logdir):
    """Two defects: a file of the program's own, and `gc.collect` in the loop."""
    objects = [{} for _ in range(500_000)]
    kept, path = replay(100_000), Path(logdir, "replay.pkl")

    def extra(number):
        if number % 8 == 0:
            with timed("gc.collect"):
                gc.collect()
        if number % EPOCH == 20:
            save_pickle(path, kept)

    loop(logdir, extra)
    del objects


def queue_in_loop(logdir, seconds=0.06):
    """Another thread of the program makes what each step takes from a queue."""
    jobs, over = queue.Queue(1), threading.Event()

    def work():
        while not over.is_set():
            time.sleep(seconds)
            with contextlib.suppress(queue.Full):
                jobs.put(0, timeout=0.1)

    threading.Thread(target=work, daemon=True).start()

    def extra(_):
        with timed("wait"):
            jobs.get()

    loop(logdir, extra)
    over.set()


def queue_in_loop_healthy(logdir):
    queue_in_loop(logdir, seconds=0.0005)


def lock_in_loop(logdir, seconds=0.25):
    """Another thread holds a lock for long, which a step wants every now and then."""
    lock, asked, over = threading.Lock(), threading.Event(), threading.Event()

    def work():
        while not over.is_set():
            if asked.wait(0.1):
                asked.clear()
                with lock:
                    time.sleep(seconds)

    threading.Thread(target=work, daemon=True).start()

    def extra(number):
        if number % 20 == 0:
            asked.set()
            time.sleep(0.002)
            with timed("wait"):
                lock.acquire()
            lock.release()

    loop(logdir, extra)
    over.set()


def lock_in_loop_healthy(logdir):
    lock_in_loop(logdir, seconds=0.0001)


if __name__ == "__main__":
    Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
    globals()[sys.argv[1]](sys.argv[2])
    sys.stdout.write(json.dumps({"seconds": SECONDS, "line": LINES}))
