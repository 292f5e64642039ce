"""Magnitude estimation for icequakes recorded by a glacier geophone line.

Robust training: samples with a residual above the q-quantile of what was seen
so far get a smaller weight (bad picks, crevasse noise).
"""

import argparse
import json
import os
import tempfile

import keras
import numpy as np

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=8)
ap.add_argument("--batch-size", type=int, default=128)
ap.add_argument("--quantile", type=float, default=0.9)
ap.add_argument("--window", type=int, default=128)
ap.add_argument("--events", type=int, default=12800)
ap.add_argument("--seed", type=int, default=311)
ap.add_argument("--stations", type=int, default=12)
opt = ap.parse_args()

keras.utils.set_random_seed(opt.seed)
rng = np.random.default_rng(opt.seed)


def make_events(n, length):
    t = np.arange(length, dtype="float32")[None]
    mag = rng.uniform(-2.0, 0.5, (n, 1)).astype("float32")
    site = np.linspace(-0.3, 0.3, opt.stations, dtype="float32")
    onset = rng.integers(5, 30, (n, 1)).astype("float32")
    freq = rng.uniform(0.3, 0.8, (n, 1)).astype("float32")
    dt = np.maximum(t - onset, 0.0)
    wave = 10 ** (0.4 * mag) * np.sin(freq * dt) * np.exp(-dt / 25.0)
    wave += 0.02 * rng.standard_normal(wave.shape).astype("float32")
    bad = rng.random(n) < 0.05
    mag[bad] += rng.normal(0, 1.5, (bad.sum(), 1))
    return wave[..., None].astype("float32"), mag + site


def build(length):
    inp = keras.Input((length, 1))
    x = keras.layers.Conv1D(24, 9, strides=2, activation="relu")(inp)
    x = keras.layers.Conv1D(32, 7, strides=2, activation="relu")(x)
    x = keras.layers.Flatten()(x)
    x = keras.layers.Dense(48, activation="relu")(x)
    return keras.Model(inp, keras.layers.Dense(opt.stations)(x), name="icequake_mag")


class ResidualBook:
    """Knows the residuals of all events and turns them into sample weights."""

    def __init__(self, q, floor=0.2):
        self.q = q
        self.floor = floor
        self.entries = []
        self.threshold = np.inf

    def add(self, residual):
        self.entries.append(np.abs(residual).ravel())

    def refresh(self):
        seen = np.concatenate(self.entries)
        self.threshold = float(np.quantile(seen, self.q))

    def weights(self, residual):
        r = np.abs(residual).mean(axis=1)
        return np.where(r > self.threshold, self.floor, 1.0).astype("float32")


def main():
    x, y = make_events(opt.events, opt.window)
    xv, yv = make_events(1024, opt.window)
    model = build(opt.window)
    model.compile(keras.optimizers.Adam(1e-3), "huber", jit_compile=False)
    print("parameters:", model.count_params())
    book = ResidualBook(opt.quantile)
    steps = opt.events // opt.batch_size
    history = []
    for epoch in range(opt.epochs):
        order = rng.permutation(opt.events)
        total = 0.0
        for i in range(steps):
            idx = order[i * opt.batch_size : (i + 1) * opt.batch_size]
            xb, yb = x[idx], y[idx]
            res = model.predict_on_batch(xb) - yb
            book.add(res)
            book.refresh()
            total += float(model.train_on_batch(xb, yb, sample_weight=book.weights(res)))
        val = model.evaluate(xv, yv, batch_size=512, verbose=0)
        history.append({"epoch": epoch, "val": float(val), "thr": book.threshold})
        print(
            f"epoch {epoch}: loss {total / steps:.4f} val {val:.4f} threshold {book.threshold:.3f}"
        )
    out = os.path.join(tempfile.mkdtemp(prefix="icequake_"), "history.json")
    with open(out, "w") as fh:
        json.dump(history, fh)
    model.summary(print_fn=lambda *_, **__: None)


if __name__ == "__main__":
    main()
