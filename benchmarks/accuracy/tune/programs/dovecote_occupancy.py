"""Forecast nest-hole occupancy in a dovecote from hourly gate counts (GRU, custom loop)."""

import argparse
import os
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras

HOLES = 20
WINDOW = 36


def gate_counts(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    base = np.stack(
        [
            np.sin(2 * np.pi * (t + 3 * h) / 24) + 0.3 * np.sin(2 * np.pi * t / 168)
            for h in range(HOLES)
        ],
        1,
    )
    drift = np.cumsum(0.02 * rng.normal(size=(hours, HOLES)), axis=0)
    return (base + drift + 0.2 * rng.normal(size=(hours, HOLES))).astype("float32")


class WeatherFeed(threading.Thread):
    """Keeps a running pressure outlook beside the training, as the warden's display needs it."""

    def __init__(self, every):
        super().__init__(daemon=True)
        self.every = every
        self.stop = threading.Event()
        self.rng = np.random.default_rng(9)
        self.outlook = 0.0

    def relax(self, n=90):
        field = self.rng.normal(size=(n, n))
        for _ in range(60):
            field = 0.25 * (
                np.roll(field, 1, 0)
                + np.roll(field, -1, 0)
                + np.roll(field, 1, 1)
                + np.roll(field, -1, 1)
            )
        return float(field.std())

    def run(self):
        while not self.stop.wait(self.every):
            self.outlook = 0.9 * self.outlook + 0.1 * self.relax()


class Forecaster(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.gru = keras.layers.GRU(units, return_sequences=True)
        self.gru2 = keras.layers.GRU(units)
        self.out = keras.layers.Dense(HOLES)

    def call(self, x):
        return self.out(self.gru2(self.gru(x)))


class Residuals:
    """Residual spread over everything seen so far, for the alarm limits."""

    def __init__(self):
        self.seen = []

    def update(self, res):
        self.seen.append(res)
        everything = tf.concat(self.seen, axis=0)
        return tf.math.reduce_std(everything, axis=0)


def batches(series, batch, rng):
    starts = rng.integers(0, len(series) - WINDOW - 1, size=batch)
    x = np.stack([series[s : s + WINDOW] for s in starts])
    return tf.constant(x), tf.constant(series[starts + WINDOW])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=480)
    ap.add_argument("--batch", type=int, default=96)
    ap.add_argument("--units", type=int, default=32)
    ap.add_argument("--feed-seconds", type=float, default=0.0)
    args = ap.parse_args()
    keras.utils.set_random_seed(31)
    rng = np.random.default_rng(31)
    series = gate_counts(24 * 200, seed=4)
    model = Forecaster(args.units)
    model(tf.zeros((1, WINDOW, HOLES)))
    opt = keras.optimizers.Adam(3e-3)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            p = model(x)
            loss = keras.losses.huber(y, p)
            loss = tf.reduce_mean(loss)
        opt.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        return loss, y - p

    residuals = Residuals()
    feed = WeatherFeed(args.feed_seconds)
    feed.start()
    t0 = time.time()
    for i in range(args.updates):
        x, y = batches(series, args.batch, rng)
        loss, res = step(x, y)
        limits = residuals.update(res)
        if i % 50 == 0:
            print(
                f"update {i:4d}  loss {float(loss):.4f}  limit {3 * float(tf.reduce_mean(limits)):.3f}"
            )
    print(f"outlook {feed.outlook:.4f}; training took {time.time() - t0:.2f} s")
    feed.stop.set()
    feed.join()


if __name__ == "__main__":
    main()
