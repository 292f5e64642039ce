"""Bolt tension in old iron truss bridges from hammer taps of varying length.

Hand-written loop; taps are cut to their own length, the longest of a batch
decides. A memory of embeddings serves a novelty term.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


def taps(n, rng):
    out, tension = [], rng.uniform(0.2, 1.0, n).astype("float32")
    for i in range(n):
        length = int(rng.integers(90, 256))
        t = np.arange(length)
        wave = np.exp(-t / 60) * np.sin(0.4 * (0.5 + tension[i]) * t)
        out.append((wave + rng.normal(0, 0.05, length)).astype("float32"))
    return out, tension


def batches(waves, tension, size, rng):
    order = rng.permutation(len(waves))
    for k in range(0, len(order) - size + 1, size):
        pick = order[k : k + size]
        longest = max(len(waves[i]) for i in pick)
        block = np.zeros((size, longest, 1), "float32")
        for row, i in enumerate(pick):
            block[row, : len(waves[i]), 0] = waves[i]
        yield block, tension[pick]


class TapNet(tf.keras.Model):
    def __init__(self, ch=24):
        super().__init__()
        self.convs = [
            tf.keras.layers.Conv1D(ch, 7, strides=2, padding="same", activation="relu")
            for _ in range(3)
        ]
        self.pool = tf.keras.layers.GlobalAveragePooling1D()
        self.mid = tf.keras.layers.Dense(64, activation="relu")
        self.head = tf.keras.layers.Dense(1)

    def call(self, x):
        for conv in self.convs:
            x = conv(x)
        z = self.mid(self.pool(x))
        return self.head(z)[:, 0], z


class Archive:
    """What the inspector has heard so far."""

    def __init__(self):
        self.heard = []

    def add(self, z):
        self.heard.append(z)

    def centre(self):
        everything = tf.concat(self.heard, axis=0)
        gap = everything - tf.reduce_mean(everything, axis=0)
        near = tf.reduce_sum(tf.abs(gap), axis=1)
        typical = tf.cast(near < tf.reduce_mean(near) * 1.5, tf.float32)[:, None]
        return tf.reduce_sum(everything * typical, 0) / (tf.reduce_sum(typical) + 1e-6)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--taps", type=int, default=2048)
    ap.add_argument("--size", type=int, default=64)
    ap.add_argument("--rounds", type=int, default=15)
    ap.add_argument("--novelty", type=float, default=1e-3)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(404)
    rng = np.random.default_rng(404)
    waves, tension = taps(args.taps, rng)

    net = TapNet()
    net(tf.zeros((1, 256, 1)))
    opt = tf.keras.optimizers.Adam(2e-3)
    opt.build(net.trainable_variables)
    archive = Archive()
    archive.add(tf.zeros((1, 64)))

    @tf.function
    def learn(x, y, centre):
        with tf.GradientTape() as tape:
            guess, z = net(x)
            mse = tf.reduce_mean(tf.square(guess - y))
            loss = mse - args.novelty * tf.reduce_mean(tf.tanh(tf.square(z - centre)))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return mse, z

    for round_no in range(args.rounds):
        seen = []
        for x, y in batches(waves, tension, args.size, rng):
            mse, z = learn(x, y, archive.centre())
            archive.add(z)
            seen.append(float(mse))
        print(f"round {round_no}: mse {np.mean(seen):.4f}  last {seen[-1]:.4f}")
    print("heard", sum(int(z.shape[0]) for z in archive.heard), "taps")


if __name__ == "__main__":
    main()
