"""Pressure/flow forecasting for espresso shots; the context grows 32 -> 64 -> 128 samples in three stages."""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

STAGES = ((32, 130), (64, 100), (128, 80))  # (context, updates)
CHUNK = tf.TensorSpec([None, None, 3], tf.float32)


def pull_shots(n, length, rng):
    t = np.linspace(0, 30, length)[None, :]
    ramp = 1 / (1 + np.exp(-(t - rng.uniform(3, 8, (n, 1)))))
    grind = rng.uniform(0.5, 1.5, (n, 1))
    pressure = 9 * ramp * np.exp(-0.02 * grind * t) + rng.normal(0, 0.15, (n, length))
    flow = np.zeros((n, length))
    for i in range(1, length):
        flow[:, i] = 0.93 * flow[:, i - 1] + 0.02 * pressure[:, i] / grind[:, 0]
    temp = 92 + np.cumsum(rng.normal(0, 0.05, (n, length)), 1)
    x = np.stack([pressure / 9, flow, (temp - 92)], -1)
    return x.astype("float32")


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.up, self.down = layers.Dense(3 * dim, activation="gelu"), layers.Dense(dim)

    def call(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.n2(x)))


class ShotModel(tf.keras.Model):
    def __init__(self, dim=96, heads=4, depth=3, longest=128):
        super().__init__()
        self.inp = layers.Dense(dim)
        self.pos = layers.Embedding(longest, dim)
        self.blocks = [Block(dim, heads) for _ in range(depth)]
        self.out = layers.Dense(3)

    def call(self, x):
        h = self.inp(x) + self.pos(tf.range(tf.shape(x)[1]))
        for b in self.blocks:
            h = b(h)
        return self.out(h)


class Barista:
    def __init__(self, lr):
        self.model = ShotModel()
        self.opt = tf.keras.optimizers.Adam(lr)

    @tf.function(input_signature=[CHUNK])
    def update(self, chunk):
        past, future = chunk[:, :-1], chunk[:, 1:]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(self.model(past) - (future - past)))
        w = self.model.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, w), w))
        return loss

    @tf.function(input_signature=[CHUNK])
    def error(self, chunk):
        past, future = chunk[:, :-1], chunk[:, 1:]
        return tf.reduce_mean(tf.abs(self.model(past) - (future - past)))


def chunks(x, context, batch):
    def crop(shot):
        return tf.image.random_crop(shot, [context + 1, 3])

    return (
        tf.data.Dataset.from_tensor_slices(x)
        .shuffle(len(x))
        .repeat()
        .map(crop, num_parallel_calls=2)
        .batch(batch)
        .prefetch(4)
    )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", type=int, default=24)
    ap.add_argument("--lr", type=float, default=7e-4)
    ap.add_argument("--seed", type=int, default=8)
    a = ap.parse_args()
    tf.keras.utils.set_random_seed(a.seed)
    shots = pull_shots(700, 160, np.random.default_rng(a.seed))
    train, held = shots[:600], shots[600:]
    barista = Barista(a.lr)
    t0 = time.time()
    for context, updates in STAGES:
        losses = []
        for chunk in chunks(train, context, a.batch).take(updates):
            losses.append(barista.update(chunk))
        val = barista.error(tf.constant(held[:48, : context + 1]))
        print(
            f"context {context:3d}: train {np.mean([float(l) for l in losses[-20:]]):.4f} "
            f"held-out {float(val):.4f}"
        )
    print(f"training took {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
