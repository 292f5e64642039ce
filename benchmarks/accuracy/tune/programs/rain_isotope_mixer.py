"""Origin of rain water from isotope chromatograms. Micro-batches are accumulated, and the
number of micro-batches per update grows (1, 2, 4); a short look at held-out data per epoch."""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras


def chromatograms(n, rng, length=256, regions=6):
    t = np.linspace(0, 1, length, dtype="float32")
    y = rng.integers(0, regions, n)
    x = np.zeros((n, length, 2), "float32")
    for ch in range(2):
        centre = 0.2 + 0.1 * y[:, None] + 0.06 * rng.normal(size=(n, 1)) + 0.05 * ch
        width = 0.03 + 0.02 * rng.random((n, 1))
        x[..., ch] = np.exp(-(((t - centre) / width) ** 2))
        x[..., ch] += 0.5 * np.exp(-(((t - 0.9 + 0.08 * y[:, None] * ch) / 0.05) ** 2))
    x += 0.3 * rng.standard_normal(x.shape, dtype="float32")
    return x, y.astype("int32")


def residual(x, filters, stride):
    skip = keras.layers.Conv1D(filters, 1, strides=stride)(x)
    h = keras.layers.Conv1D(filters, 7, strides=stride, padding="same", activation="relu")(x)
    h = keras.layers.Conv1D(filters, 7, padding="same")(h)
    return keras.layers.ReLU()(skip + h)


def network(regions=6):
    inp = keras.Input((256, 2))
    x = inp
    for filters, stride in ((40, 1), (64, 2), (96, 2)):
        x = residual(x, filters, stride)
    x = keras.layers.GlobalAveragePooling1D()(x)
    return keras.Model(inp, keras.layers.Dense(regions)(x))


class Mixer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = keras.optimizers.Adam(lr)
        self.opt.build(model.trainable_variables)
        self.sums = [
            tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables
        ]
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def micro(self, x, y, weight):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True)) * weight
        for s, g in zip(self.sums, tape.gradient(loss, self.model.trainable_variables)):
            s.assign_add(g)
        return loss

    @tf.function
    def apply(self):
        self.opt.apply_gradients(
            [(s.read_value(), v) for s, v in zip(self.sums, self.model.trainable_variables)]
        )
        for s in self.sums:
            s.assign(tf.zeros_like(s))

    @tf.function
    def hits(self, x, y):
        guess = tf.argmax(self.model(x, training=False), 1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(tf.equal(guess, y), tf.float32))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--micro", type=int, default=64)
    ap.add_argument("--train", type=int, default=3072)
    a = ap.parse_args()
    keras.utils.set_random_seed(66)
    rng = np.random.default_rng(66)
    x, y = chromatograms(a.train, rng)
    vx, vy = (tf.constant(v) for v in chromatograms(192, rng))
    x, y = tf.constant(x), tf.constant(y)
    ds = tf.data.Dataset.range(a.train).shuffle(a.train).batch(a.micro, drop_remainder=True)
    ds = ds.map(lambda rows: (tf.gather(x, rows), tf.gather(y, rows))).prefetch(4)
    mixer = Mixer(network(), 1e-3)
    updates = 0
    for epoch in range(a.epochs):
        parts = (1, 2, 4)[epoch * 3 // a.epochs]
        weight, t0 = tf.constant(1.0 / parts), time.perf_counter()
        total = tf.constant(0.0)
        for i, (bx, by) in enumerate(ds):
            total += mixer.micro(bx, by, weight)
            if (i + 1) % parts == 0:
                mixer.apply()
                updates += 1
        acc = float(mixer.hits(vx, vy))
        print(
            f"epoch {epoch}: {parts} micro-batches per update, loss {float(total) * parts / (i + 1):.3f}, "
            f"held-out {acc:.3f}, {updates} updates, {time.perf_counter() - t0:.1f} s"
        )


if __name__ == "__main__":
    main()
