"""Burgers' equation with a physics-informed network; points are drawn anew every 100 steps."""

import time

import numpy as np
import tensorflow as tf

NU = 0.01 / np.pi
tf.keras.backend.set_floatx("float32")
rng = np.random.default_rng(13)


class Field(tf.Module):
    def __init__(self, widths=(2, 40, 40, 40, 40, 1)):
        super().__init__()
        self.weights, self.biases = [], []
        for k, (i, o) in enumerate(zip(widths, widths[1:])):
            scale = (2.0 / (i + o)) ** 0.5
            self.weights.append(tf.Variable(tf.random.normal([i, o], stddev=scale, seed=k)))
            self.biases.append(tf.Variable(tf.zeros([o])))

    def __call__(self, x, t):
        h = tf.concat([x, t], axis=1)
        for w, b in zip(self.weights[:-1], self.biases[:-1]):
            h = tf.tanh(h @ w + b)
        return h @ self.weights[-1] + self.biases[-1]


field = Field()
schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([1000, 1700], [3e-3, 1e-3, 3e-4])
optimizer = tf.keras.optimizers.Adam(schedule)


def residual(x, t):
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as first:
            first.watch([x, t])
            u = field(x, t)
        u_x = first.gradient(u, x)
        u_t = first.gradient(u, t)
    return u_t + u * u_x - NU * second.gradient(u_x, x)


@tf.function
def step(x, t, x0, t_edge):
    with tf.GradientTape() as tape:
        inside = tf.reduce_mean(residual(x, t) ** 2)
        start = tf.reduce_mean((field(x0, tf.zeros_like(x0)) + tf.sin(np.pi * x0)) ** 2)
        one = tf.ones_like(t_edge)
        edge = tf.reduce_mean(field(one, t_edge) ** 2 + field(-one, t_edge) ** 2)
        loss = inside + start + edge
    variables = field.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss, inside


def draw(n, low, high):
    return tf.constant(rng.uniform(low, high, (n, 1)), tf.float32)


def main(steps=2200):
    began = time.time()
    for k in range(steps):
        if k % 100 == 0:
            inner = draw(2500, -1, 1), draw(2500, 0, 1)
            border = draw(200, -1, 1), draw(200, 0, 1)
        loss, inside = step(*inner, *border)
        if k % 200 == 199:
            print(f"{k + 1:5d} loss {loss:.2e} residual {inside:.2e} {time.time() - began:.0f} s")


main()
