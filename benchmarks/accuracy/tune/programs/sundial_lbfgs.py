"""Recover the tilt map of weathered sundials from shadow lines with a
quasi-Newton fit of a coordinate network (full batch, no Keras).
"""

import argparse
import time

import numpy as np
import tensorflow as tf


def shadows(n, rng):
    """Hour angle, latitude, month -> length and direction of the shadow."""
    hour = rng.uniform(-1.2, 1.2, n)
    lat = rng.uniform(0.3, 1.1, n)
    decl = 0.41 * np.sin(rng.uniform(0, 6.28, n))
    alt = np.arcsin(np.sin(lat) * np.sin(decl) + np.cos(lat) * np.cos(decl) * np.cos(hour))
    az = np.arctan2(np.sin(hour), np.cos(hour) * np.sin(lat) - np.tan(decl) * np.cos(lat))
    worn = 0.05 * np.sin(7 * hour) * np.cos(9 * lat)
    x = np.stack([hour, lat, decl * 2], 1).astype("float32")
    y = np.stack([np.sin(alt) + worn, np.sin(az), np.cos(az)], 1).astype("float32")
    return x, y


class FlatNet:
    """All weights in one flat variable, so that steps are vector operations."""

    def __init__(self, sizes, seed):
        self.shapes = []
        parts = []
        gen = tf.random.Generator.from_seed(seed)
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.shapes += [(a, b), (b,)]
            parts += [tf.reshape(gen.normal((a, b)) / a**0.5, [-1]), tf.zeros(b)]
        self.flat = tf.Variable(tf.concat(parts, 0))
        self.sizes = [int(np.prod(s)) for s in self.shapes]

    def predict(self, theta, x):
        parts = [tf.reshape(p, s) for p, s in zip(tf.split(theta, self.sizes), self.shapes)]
        for i in range(0, len(parts), 2):
            x = x @ parts[i] + parts[i + 1]
            if i + 2 < len(parts):
                x = tf.tanh(x)
        return x


class LBFGS:
    def __init__(self, objective, theta, memory=10):
        self.objective = objective
        self.theta = theta
        self.memory = memory
        self.pairs = []
        self.loss, self.grad = objective(theta)

    def direction(self):
        q = -self.grad
        alphas = []
        for s, y, rho in reversed(self.pairs):
            alpha = rho * tf.tensordot(s, q, 1)
            q = q - alpha * y
            alphas.append(alpha)
        if self.pairs:
            s, y, _ = self.pairs[-1]
            q = q * (tf.tensordot(s, y, 1) / tf.tensordot(y, y, 1))
        for (s, y, rho), alpha in zip(self.pairs, reversed(alphas)):
            q = q + (alpha - rho * tf.tensordot(y, q, 1)) * s
        return q

    def remember(self, s, y):
        sy = tf.tensordot(s, y, 1)
        if float(sy) > 1e-10:
            self.pairs.append((s, y, 1.0 / sy))

    def step(self):
        d = self.direction()
        slope = float(tf.tensordot(self.grad, d, 1))
        t = 1.0 if self.pairs else min(1.0, 0.1 / float(tf.norm(self.grad)))
        for _ in range(8):
            new = self.theta + t * d
            loss, grad = self.objective(new)
            if float(loss) <= float(self.loss) + 1e-4 * t * slope:
                break
            t *= 0.5
        self.remember(new - self.theta, grad - self.grad)
        self.theta, self.loss, self.grad = new, loss, grad


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--iterations", type=int, default=160)
    p.add_argument("--points", type=int, default=6144)
    p.add_argument("--seed", type=int, default=8)
    a = p.parse_args()
    tf.random.set_seed(a.seed)
    x, y = map(tf.constant, shadows(a.points, np.random.default_rng(a.seed)))
    net = FlatNet([3, 160, 160, 160, 3], a.seed)

    @tf.function
    def objective(theta):
        with tf.GradientTape() as tape:
            tape.watch(theta)
            loss = tf.reduce_mean(tf.square(net.predict(theta, x) - y))
        return loss, tape.gradient(loss, theta)

    t0 = time.time()
    solver = LBFGS(objective, tf.convert_to_tensor(net.flat))
    for i in range(a.iterations):
        solver.step()
        if i % 40 == 0:
            print(f"iteration {i:4d} misfit {float(solver.loss):.6f} {time.time() - t0:.1f} s")
    net.flat.assign(solver.theta)
    print(f"final misfit {float(solver.loss):.6f} after {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
