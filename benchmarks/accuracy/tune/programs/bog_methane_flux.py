"""Methane flux of a raised bog, three hours ahead, from half-hourly chamber records."""

import argparse
import csv
import os
import tempfile
import time

import numpy as np
import tensorflow as tf

CHANNELS = ["water_table", "peat_temp", "pressure", "wind", "par", "sphagnum_wet"]


def simulate(days, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(days * 48)
    day = np.sin(2 * np.pi * t / 48)
    year = np.sin(2 * np.pi * t / (48 * 365))
    cols = [
        np.cumsum(rng.normal(scale=0.02, size=t.size)) - 0.3 * year,
        10 + 6 * year + 1.5 * day,
        np.cumsum(rng.normal(scale=0.05, size=t.size)),
        np.abs(rng.normal(size=t.size)),
        np.clip(day, 0, None),
        rng.normal(size=t.size),
    ]
    drivers = np.stack(cols, 1)
    drivers = (drivers - drivers.mean(0)) / drivers.std(0)
    flux = np.exp(0.5 * drivers[:, 1] - 0.3 * drivers[:, 0]) + 0.1 * rng.normal(size=t.size)
    flux[1:] += 0.4 * np.clip(-np.diff(drivers[:, 2]), 0, None)
    return drivers.astype("float32"), flux.astype("float32")


class Windows:
    def __init__(self, drivers, flux, past, ahead, batch, seed):
        self.d, self.f = drivers, flux
        self.past, self.ahead, self.batch = past, ahead, batch
        self.rng = np.random.default_rng(seed)

    def draw(self):
        start = self.rng.integers(0, len(self.d) - self.past - self.ahead, self.batch)
        idx = start[:, None] + np.arange(self.past)[None, :]
        return self.d[idx], self.f[start + self.past + self.ahead - 1][:, None]


def build(past):
    inp = tf.keras.Input((past, len(CHANNELS)))
    h = inp
    for rate in (1, 2, 4, 8):
        h = tf.keras.layers.Conv1D(64, 3, padding="causal", dilation_rate=rate, activation="relu")(
            h
        )
    h = tf.keras.layers.Concatenate()([h[:, -1], tf.keras.layers.GlobalAveragePooling1D()(h)])
    h = tf.keras.layers.Dense(64, activation="relu")(h)
    return tf.keras.Model(inp, tf.keras.layers.Dense(3)(h))


def quantile_loss(y, q):
    err = y - q
    taus = tf.constant([0.1, 0.5, 0.9])
    return tf.reduce_mean(tf.maximum(taus * err, (taus - 1.0) * err))


class Residuals:
    """Residuals of the median forecast so far: their spread sets the width of the report."""

    def __init__(self):
        self.items = []

    def add(self, r):
        self.items.append(r)

    def spread(self):
        everything = tf.sort(tf.abs(tf.concat(self.items, axis=0)), axis=0)
        return everything[int(0.9 * int(everything.shape[0]))]


def sensor_dropout(x, rng, rate):
    """Chambers fail for a while: blank one stretch of one channel in some windows."""
    parts = []
    for row in tf.unstack(x):
        if rng.random() < rate:
            c = int(rng.integers(len(CHANNELS)))
            a = int(rng.integers(0, row.shape[0] // 2))
            keep = tf.concat([tf.ones(a), tf.zeros(24), tf.ones(row.shape[0] - a - 24)], 0)
            mask = 1.0 - (1.0 - keep)[:, None] * tf.one_hot(c, len(CHANNELS))[None, :]
            row = row * mask
        parts.append(row)
    return tf.stack(parts)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--updates", type=int, default=320)
    ap.add_argument("--past", type=int, default=96)
    ap.add_argument("--batch", type=int, default=96)
    ap.add_argument("--dropout-from", type=int, default=100)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(11)
    rng = np.random.default_rng(12)
    windows = Windows(*simulate(600, 7), args.past, 6, args.batch, 8)
    model = build(args.past)
    opt = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(2e-3, args.updates))

    @tf.function
    def update(x, y):
        with tf.GradientTape() as tape:
            q = model(x, training=True)
            loss = quantile_loss(y, q)
        opt.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        return loss, y - q[:, 1:2]

    residuals, recent, t0 = Residuals(), [], time.time()
    path = os.path.join(tempfile.mkdtemp(prefix="bog_"), "flux.csv")
    with open(path, "w", newline="") as f:
        log = csv.writer(f)
        log.writerow(["update", "loss", "spread90"])
        for n in range(1, args.updates + 1):
            x, y = windows.draw()
            x = tf.convert_to_tensor(x)
            if n > args.dropout_from:
                x = sensor_dropout(x, rng, 0.25)
            loss, r = update(x, tf.convert_to_tensor(y))
            residuals.add(r)
            recent.append(float(loss))
            spread = float(residuals.spread()[0])
            log.writerow([n, f"{recent[-1]:.4f}", f"{spread:.4f}"])
            if n % 40 == 0:
                print(
                    f"{n:4d}  pinball {np.mean(recent[-40:]):.4f}  spread {spread:.3f}  "
                    f"{time.time() - t0:.1f}s"
                )
    print("log:", path)


if __name__ == "__main__":
    main()
