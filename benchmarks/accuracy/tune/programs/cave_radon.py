"""Radon concentration in a show cave: neural field fitted with quasi-Newton steps."""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras


def cave_survey(n, seed):
    rng = np.random.default_rng(seed)
    pos = rng.uniform(-1, 1, (n, 4)).astype("float32")  # x, y, height, season
    c = (
        np.sin(3 * pos[:, 0]) * np.cos(2 * pos[:, 1] + pos[:, 3])
        + 0.5 * np.exp(-4 * (pos[:, 2] + 0.4) ** 2)
        + 0.3 * np.tanh(6 * pos[:, 0] * pos[:, 3])
    )
    return pos, (c + rng.normal(0, 0.05, n)).astype("float32")[:, None]


def field(width):
    init = keras.initializers.GlorotUniform(seed=3)
    return keras.Sequential(
        [keras.Input((4,))]
        + [keras.layers.Dense(width, activation="tanh", kernel_initializer=init) for _ in range(3)]
        + [keras.layers.Dense(1, kernel_initializer=init)]
    )


class Objective:
    """Loss and flat gradient of a Keras model at a flat parameter vector."""

    def __init__(self, net, x, y):
        self.net, self.x, self.y = net, tf.constant(x), tf.constant(y)
        self.vars = net.trainable_variables
        self.shapes = [v.shape for v in self.vars]
        self.sizes = [int(np.prod(s)) for s in self.shapes]

    @tf.function
    def _evaluate(self, flat):
        for v, part, shape in zip(self.vars, tf.split(flat, self.sizes), self.shapes):
            v.assign(tf.reshape(part, shape))
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self.net(self.x, training=True) - self.y))
        grads = tape.gradient(loss, self.vars)
        return loss, tf.concat([tf.reshape(g, [-1]) for g in grads], 0)

    def __call__(self, flat):
        loss, grad = self._evaluate(tf.constant(flat))
        return float(loss), grad.numpy()

    def start(self):
        return np.concatenate([v.numpy().ravel() for v in self.vars])


class QuasiNewton:
    def __init__(self, objective):
        self.f = objective
        self.w = objective.start()
        self.loss, self.g = objective(self.w)
        self.pairs = []

    def direction(self):
        q = self.g.copy()
        alphas = []
        for s, y, rho in reversed(self.pairs):
            a = rho * s.dot(q)
            q -= a * y
            alphas.append(a)
        if self.pairs:
            s, y, _ = self.pairs[-1]
            q *= s.dot(y) / y.dot(y)
        else:
            q *= 1.0 / np.abs(self.g).sum()
        for (s, y, rho), a in zip(self.pairs, reversed(alphas)):
            q += (a - rho * y.dot(q)) * s
        return -q

    def step(self):
        d = self.direction()
        slope, t = self.g.dot(d), 1.0
        for _ in range(10):
            loss, g = self.f(self.w + np.float32(t) * d)
            if loss <= self.loss + 1e-4 * t * slope:
                break
            t *= 0.4
        s, y = np.float32(t) * d, g - self.g
        if s.dot(y) > 1e-10:
            self.pairs.append((s, y, 1.0 / s.dot(y)))
        self.w, self.loss, self.g = self.w + s, loss, g
        return loss


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=320)
    ap.add_argument("--width", type=int, default=320)
    args = ap.parse_args()
    keras.utils.set_random_seed(6)
    x, y = cave_survey(1024, seed=20)
    solver = QuasiNewton(Objective(field(args.width), x, y))
    t0 = time.time()
    for k in range(args.steps):
        loss = solver.step()
        if k % 40 == 0:
            print(f"iteration {k:4d}  mse {loss:.5f}  {time.time() - t0:6.2f}s")
    print("final mse", solver.loss)


if __name__ == "__main__":
    main()
