"""Predict crowding at metro stations with a small graph network."""

import math

import numpy as np
import tensorflow as tf
import keras

STATIONS = 200
FEATURES = 24
WIDTH = 64
LAYERS = 4
STEPS = 500
HOLD = 120


class Network:
    """Random lines, a normalised adjacency and a stream of daily loads."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        a = np.eye(STATIONS, dtype=np.float32)
        for _ in range(22):
            line = self.rng.permutation(STATIONS)[:40]
            a[line[:-1], line[1:]] = 1
            a[line[1:], line[:-1]] = 1
        d = a.sum(1)
        self.adj = a / np.sqrt(d[:, None] * d[None, :])
        self.mix = self.rng.normal(size=(FEATURES,)).astype(np.float32)

    def days(self, count):
        x = self.rng.normal(size=(count, STATIONS, FEATURES)).astype(np.float32)
        flow = x @ self.mix
        for _ in range(2):
            flow = np.tanh(flow @ self.adj)
        y = flow + 0.05 * self.rng.normal(size=flow.shape)
        return x, y.astype(np.float32)


class GraphLayer(keras.layers.Layer):
    def __init__(self, width, adj):
        super().__init__()
        self.width = width
        self.adj = tf.constant(adj)

    def build(self, shape):
        self.own = self.add_weight(shape=(shape[-1], self.width), name="own")
        self.near = self.add_weight(shape=(shape[-1], self.width), name="near")
        self.bias = self.add_weight(shape=(self.width,), initializer="zeros", name="bias")
        self.gain = self.add_weight(shape=(self.width,), initializer="ones", name="gain")

    def call(self, x):
        around = tf.einsum("ij,bjf->bif", self.adj, x)
        y = tf.matmul(x, self.own) + tf.matmul(around, self.near) + self.bias
        y = y * tf.math.rsqrt(tf.reduce_mean(y * y, -1, keepdims=True) + 1e-5)
        return tf.nn.relu(self.gain * y)


class Crowding(keras.Model):
    def __init__(self, adj):
        super().__init__()
        self.stack = [GraphLayer(WIDTH, adj) for _ in range(LAYERS)]
        self.out = keras.layers.Dense(1)

    def call(self, x):
        for layer in self.stack:
            x = layer(x)
        return tf.squeeze(self.out(x), -1)


class Trainer:
    def __init__(self, model, rate):
        self.model = model
        self.use_rate(rate)

    def use_rate(self, rate):
        self.rate = rate
        self.optimizer = keras.optimizers.Adam(rate)

    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.model(x) - y))
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return float(loss)


def rate_at(step, base=3e-3):
    """Constant at first, then a cosine down to a twentieth."""
    if step < HOLD:
        return base
    part = (step - HOLD) / (STEPS - HOLD)
    return base * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * part)))


def main():
    keras.utils.set_random_seed(6)
    network = Network(seed=6)
    x, y = network.days(256)
    xv, yv = network.days(32)
    model = Crowding(network.adj)
    trainer = Trainer(model, rate_at(0))
    rng = np.random.default_rng(0)
    losses = []
    for step in range(STEPS):
        rate = rate_at(step)
        if rate != trainer.rate:
            trainer.use_rate(rate)
        rows = rng.integers(0, len(x), size=2)
        losses.append(trainer.step(tf.constant(x[rows]), tf.constant(y[rows])))
        if (step + 1) % 50 == 0:
            held = float(tf.reduce_mean(tf.square(model(xv) - yv)))
            print(
                f"step {step + 1}: loss {np.mean(losses[-50:]):.4f} held {held:.4f} rate {rate:.5f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
