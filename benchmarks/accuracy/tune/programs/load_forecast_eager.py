"""Day-ahead electricity load forecast, plain eager loop."""

import math
import os
import random
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

CONTEXT = 168  # one week of hourly readings
HORIZON = 24
BATCH = 64
STEPS = 700
YEARS = 14


def read_meter(years):
    """Hourly readings in MW; stands in for the CSV export of the grid operator."""
    random.seed(4)
    readings = []
    level = 0.0
    for hour in range(years * 365 * 24):
        day = math.sin(2 * math.pi * (hour % 24 - 7) / 24)
        week = 0.3 if (hour // 24) % 7 < 5 else -0.4
        season = 0.5 * math.cos(2 * math.pi * hour / 8760)
        level = 0.98 * level + random.gauss(0, 0.05)
        readings.append(day + week + season + level)
    return readings


class Forecaster(tf.Module):
    def __init__(self):
        super().__init__()
        init = tf.initializers.GlorotUniform(seed=1)
        self.kernel = tf.Variable(init((12, 1, 24)))
        self.w1 = tf.Variable(init((14 * 24, 128)))
        self.b1 = tf.Variable(tf.zeros(128))
        self.w2 = tf.Variable(init((128, HORIZON)))
        self.b2 = tf.Variable(tf.zeros(HORIZON))

    def __call__(self, window):
        h = tf.nn.conv1d(window[..., None], self.kernel, stride=12, padding="VALID")
        h = tf.reshape(tf.nn.relu(h), (tf.shape(window)[0], -1))
        h = tf.nn.relu(h @ self.w1 + self.b1)
        return h @ self.w2 + self.b2 + window[:, -HORIZON:]


class WindowSampler:
    def __init__(self, series):
        self.series = series
        self.rng = np.random.default_rng(9)
        span = CONTEXT + HORIZON
        self.offsets = np.arange(span)[None, :]
        self.last = len(series) - span

    def draw(self):
        starts = self.rng.integers(0, self.last, BATCH)
        load = tf.convert_to_tensor(self.series, tf.float32)
        block = tf.gather(load, starts[:, None] + self.offsets)
        return block[:, :CONTEXT], block[:, CONTEXT:]


class ErrorBand:
    """Reserve margin: 90 % band of the absolute error seen in training."""

    def __init__(self):
        self.errors = []
        self.band = 0.0

    def observe(self, err):
        self.errors.append(np.abs(err))
        self.band = float(np.quantile(np.concatenate(self.errors), 0.9))
        return self.band


def main():
    tf.random.set_seed(0)
    readings = read_meter(YEARS)
    sampler = WindowSampler(readings)
    model = Forecaster()
    optimizer = tf.keras.optimizers.Adam(2e-3)
    band = ErrorBand()
    t0 = time.time()
    for step in range(STEPS):
        x, y = sampler.draw()
        with tf.GradientTape() as tape:
            pred = model(x)
            err = pred - y
            loss = tf.reduce_mean(
                tf.where(tf.abs(err) < 0.5, 0.5 * err**2, 0.5 * (tf.abs(err) - 0.25))
            )
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        margin = band.observe(err.numpy())
        if step % 100 == 0:
            print(f"{step:5d}  huber {float(loss):.4f}  margin {margin:.3f} MW")
    print("finished after %.1f s" % (time.time() - t0))


if __name__ == "__main__":
    main()
