"""Forecast the temperature inside a wood-fired kiln, firing after firing."""

import argparse
import math
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf

SENSORS = 6
WINDOW = 24


def firing(rng, length=1200):
    t = np.arange(length)
    base = 1250 / (1 + np.exp(-(t - length * 0.4) / 150.0))
    stoke = 30 * np.sin(2 * math.pi * t / rng.integers(35, 60))
    lags = np.stack([np.roll(base + stoke, 3 * k) for k in range(SENSORS)], 1)
    return ((lags + rng.normal(0, 6, lags.shape)) / 1300).astype("float32")


def windows(series):
    n = len(series) - WINDOW - 6
    idx = np.arange(n)[:, None] + np.arange(WINDOW)
    return series[idx], series[np.arange(n) + WINDOW + 5, 0:1]


class KilnNet(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.inp = tf.keras.layers.Dense(units, activation="gelu")
        self.flat = tf.keras.layers.Flatten()
        self.hidden = [tf.keras.layers.Dense(units * 6, activation="gelu") for _ in range(3)]
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        h = self.flat(self.inp(x))
        for layer in self.hidden:
            h = layer(h)
        return self.out(h)


class Trainer:
    def __init__(self, args, folder):
        self.model = KilnNet(args.units)
        self.model(tf.zeros((1, WINDOW, SENSORS)))
        self.opt = tf.keras.optimizers.AdamW(1e-3)
        self.opt.build(self.model.trainable_variables)
        self.base = args.rate
        self.ckpt = tf.train.Checkpoint(model=self.model, opt=self.opt)
        self.manager = tf.train.CheckpointManager(self.ckpt, folder, max_to_keep=3)
        self.best = float("inf")

    def smoothing(self, epoch):
        return 0.02 / (1.0 + 0.5 * epoch)

    @tf.function
    def step(self, x, y, delta):
        with tf.GradientTape() as tape:
            err = self.model(x, training=True) - y
            loss = tf.reduce_mean(delta * (tf.sqrt(1 + tf.square(err / delta)) - 1))
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def keep(self, loss):
        running = loss if self.best == float("inf") else 0.9 * self.best + 0.1 * loss
        if loss < running * 1.5:
            self.manager.save()
        self.best = min(self.best, running)

    def run_epoch(self, epoch, data):
        self.opt.learning_rate.assign(self.base * 0.9**epoch)
        losses = []
        for i, (x, y) in enumerate(data):
            loss = self.step(x, y, self.smoothing(epoch))
            losses.append(loss)
            if i % 4 == 3:
                self.keep(float(loss))
        return float(tf.add_n(losses) / len(losses))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--units", type=int, default=72)
    ap.add_argument("--rate", type=float, default=1e-3)
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--firings", type=int, default=3)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(21)
    rng = np.random.default_rng(21)
    parts = [windows(firing(rng)) for _ in range(args.firings)]
    x = np.concatenate([p[0] for p in parts])
    y = np.concatenate([p[1] for p in parts])
    data = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(len(x), seed=1)
        .batch(128, drop_remainder=True)
        .prefetch(2)
    )
    folder = tempfile.mkdtemp(prefix="kiln_")
    trainer = Trainer(args, folder)
    for epoch in range(args.epochs):
        mean = trainer.run_epoch(epoch, data)
        print(f"firing plan {epoch:2d}  loss {mean:.6f}  lr {float(trainer.opt.learning_rate):.2e}")
    print("kept:", [os.path.basename(p) for p in trainer.manager.checkpoints])


if __name__ == "__main__":
    main()
