"""Assigns volcanic glass shards to eruptions from electron probe spectra.
The labs drift, so an embedding is standardised with all that was measured so far."""

import os
import time
import tempfile

import numpy as np
import tensorflow as tf

FLAGS = dict(batch=256, channels=180, hidden=512, eruptions=9, steps=260, log=52, seed=79)


def probe(rng, eruptions, channels):
    """Endless stream of spectra; the baseline wanders."""
    axis = np.linspace(0, 1, channels)
    peaks = rng.uniform(0.05, 0.95, (eruptions, 6))
    height = rng.uniform(0.3, 1.2, (eruptions, 6))
    pure = (height[..., None] * np.exp(-(((axis - peaks[..., None]) / 0.02) ** 2))).sum(1)
    drift = 0.0
    while True:
        drift = 0.98 * drift + 0.05 * rng.standard_normal()
        y = rng.integers(0, eruptions, FLAGS["batch"])
        x = pure[y] * rng.uniform(0.7, 1.3, (len(y), 1)) + drift * (1 - axis)
        yield (x + 0.25 * rng.standard_normal(x.shape)).astype(np.float32), y.astype(np.int32)


class ShardStatistics:
    """Mean and spread of the embedding over the whole campaign."""

    def __init__(self, width):
        self.width = width
        self.measured = []

    def update(self, z):
        self.measured.append(z)

    def summary(self):
        z = tf.concat(self.measured, 0)
        mean = tf.reduce_mean(z, 0)
        return mean, tf.sqrt(tf.reduce_mean(tf.square(z), 0) - tf.square(mean) + 1e-3)


def mlp(sizes, last=None):
    net = tf.keras.Sequential()
    for s in sizes[:-1]:
        net.add(tf.keras.layers.Dense(s, activation="relu"))
    net.add(tf.keras.layers.Dense(sizes[-1], activation=last))
    return net


class Assigner(tf.Module):
    def __init__(self, hidden, eruptions):
        super().__init__()
        self.embed = mlp([1024, 1024, hidden], "tanh")
        self.classify = mlp([256, eruptions])
        self.opt = tf.keras.optimizers.AdamW(5e-4, weight_decay=1e-4)
        self.stats = ShardStatistics(hidden)

    @tf.function
    def encode(self, x):
        return self.embed(x)

    @tf.function
    def learn(self, x, y, mean, spread):
        with tf.GradientTape() as tape:
            z = (self.embed(x) - mean) / spread
            logits = self.classify(z)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        v = self.embed.trainable_variables + self.classify.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        hit = tf.reduce_mean(tf.cast(tf.argmax(logits, 1, tf.int32) == y, tf.float32))
        return loss, hit

    def session(self, x, y):
        self.stats.update(self.encode(x))
        mean, spread = self.stats.summary()
        return self.learn(x, y, mean, spread)


def main():
    tf.keras.utils.set_random_seed(FLAGS["seed"])
    stream = probe(np.random.default_rng(FLAGS["seed"]), FLAGS["eruptions"], FLAGS["channels"])
    model = Assigner(FLAGS["hidden"], FLAGS["eruptions"])
    started = time.time()
    for step in range(1, FLAGS["steps"] + 1):
        x, y = next(stream)
        loss, hit = model.session(tf.constant(x), tf.constant(y))
        if step % FLAGS["log"] == 0:
            print(f"{step:5d}  loss {loss.numpy():.4f}  hit rate {hit.numpy():.3f}", flush=True)
    path = os.path.join(tempfile.mkdtemp(), "assigner.npz")
    np.savez(path, *[v.numpy() for v in model.classify.trainable_variables])
    print("classifier in", path)
    print(f"done in {time.time() - started:.1f} s")


if __name__ == "__main__":
    main()
