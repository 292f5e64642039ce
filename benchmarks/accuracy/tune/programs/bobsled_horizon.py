"""Bobsled run telemetry: predict the next sensor frame, first from short cuts
of a run, then from longer ones, at last from whole runs."""

import argparse
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SENSORS = ("yaw", "roll", "g_vert", "g_lat", "speed", "steer", "ice_temp", "runner")
STAGES = ((128, 110), (256, 80), (512, 60))  # (frames, updates)


def simulate_runs(n, frames, rng):
    t = np.arange(frames)
    f = len(SENSORS)
    corner = np.zeros((n, frames))
    for _ in range(14):
        centre = rng.uniform(0, frames, (n, 1))
        corner += rng.normal(0, 1, (n, 1)) * np.exp(-(((t - centre) / 14.0) ** 2))
    mix = rng.normal(0, 1, (f, 3))
    drive = np.stack(
        [corner, np.gradient(corner, axis=1) * 8, np.sin(t / 37.0)[None] * np.ones((n, 1))], -1
    )
    runs = drive @ mix.T + rng.normal(0, 0.05, (n, frames, f))
    return runs.astype("float32")


class GatedBlock(layers.Layer):
    def __init__(self, width, dilation, **kw):
        super().__init__(**kw)
        self.conv = layers.Conv1D(2 * width, 3, padding="causal", dilation_rate=dilation)
        self.mix = layers.Dense(width)

    def call(self, x):
        a, b = tf.split(self.conv(x), 2, axis=-1)
        return x + self.mix(tf.tanh(a) * tf.sigmoid(b))


class FrameNet(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.entry = layers.Dense(width)
        self.blocks = [GatedBlock(width, 2**k) for k in range(5)]
        self.exit = layers.Dense(len(SENSORS))

    def call(self, x):
        h = self.entry(x)
        for block in self.blocks:
            h = block(h)
        return self.exit(h)


class Coach:
    def __init__(self, net, rate):
        self.net = net
        self.opt = keras.optimizers.Adam(rate, global_clipnorm=1.0)
        self.opt.build(net.trainable_variables)

    @tf.function(input_signature=[tf.TensorSpec([None, None, len(SENSORS)], tf.float32)])
    def update(self, cut):
        with tf.GradientTape() as tape:
            guess = self.net(cut[:, :-1])
            loss = tf.reduce_mean(tf.square(guess - cut[:, 1:]))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    @tf.function(input_signature=[tf.TensorSpec([None, None, len(SENSORS)], tf.float32)])
    def score(self, runs):
        return tf.reduce_mean(tf.square(self.net(runs[:, :-1]) - runs[:, 1:]))


def cuts(runs, frames, batch, rng):
    while True:
        who = rng.integers(0, len(runs), batch)
        start = rng.integers(0, runs.shape[1] - frames + 1)
        yield runs[who, start : start + frames]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--width", type=int, default=64)
    ap.add_argument("--batch", type=int, default=24)
    ap.add_argument("--rate", type=float, default=2e-3)
    args = ap.parse_args()
    keras.utils.set_random_seed(2026)
    rng = np.random.default_rng(2026)
    runs = simulate_runs(220, 640, rng)
    train, held = runs[:200], tf.constant(runs[200:])
    net = FrameNet(args.width)
    net(train[:1, :8])
    coach = Coach(net, args.rate)

    begin = time.time()
    for frames, updates in STAGES:
        stream = cuts(train, frames, args.batch, rng)
        stage_begin, losses = time.time(), []
        for _ in range(updates):
            losses.append(coach.update(tf.constant(next(stream))))
        print(
            f"frames {frames:4d}  train mse {np.mean(losses[-20:]):.4f}  "
            f"held-out {float(coach.score(held)):.4f}  ({time.time() - stage_begin:.1f}s)"
        )
    print(f"train {time.time() - begin:.2f}s")
    path = os.path.join(tempfile.mkdtemp(prefix="bob_"), "frame.weights.h5")
    net.save_weights(path)
    print("saved", os.path.getsize(path) // 1024, "KiB")


if __name__ == "__main__":
    main()
