"""Regress drone frequency and stability of bagpipe reeds from scraping profiles.

Uses a low-rank full-matrix adaptive method (in the spirit of GGT) instead of Adam,
because the profile features are strongly correlated.
"""

import argparse
import collections
import time

import numpy as np
import tensorflow as tf


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=150)
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--points", type=int, default=160)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--rank", type=int, default=15)
    p.add_argument("--seed", type=int, default=1746)
    return p.parse_args()


def reed_profiles(n, points, rng):
    t = np.linspace(0, 1, points)
    bend = rng.uniform(0.2, 1.0, (n, 1))
    lip = rng.uniform(0.05, 0.3, (n, 1))
    bump = rng.uniform(0.1, 0.9, (n, 1))
    x = bend * t**2 + lip * np.exp(-((t - bump) ** 2) / 0.01)
    x = x + rng.normal(0, 0.02, x.shape)
    freq = 2.0 * bend[:, 0] - 3.0 * lip[:, 0] + np.sin(6 * bump[:, 0])
    stab = bend[:, 0] * bump[:, 0] - lip[:, 0] ** 2
    return x.astype("float32"), np.stack([freq, stab], 1).astype("float32")


class WindowedFullMatrix:
    """x <- x - lr * (G G^T + eps I)^(-1/2) g with G the recent gradients."""

    def __init__(self, variables, lr, rank, eps=1e-3, decay=0.97):
        self.variables = variables
        self.shapes = [tuple(v.shape) for v in variables]
        self.sizes = [int(np.prod(s)) for s in self.shapes]
        self.lr, self.rank, self.eps, self.decay = lr, rank, eps, decay
        self.window = collections.deque()

    def flatten(self, grads):
        return tf.concat([tf.reshape(g, [-1]) for g in grads], 0)

    def direction(self, g):
        r = len(self.window)
        weights = np.power(self.decay, np.arange(r)[::-1] / 2).astype("float32")
        G = tf.stack(list(self.window), 0) * weights[:, None]
        gram = tf.matmul(G, G, transpose_b=True)
        lam, u = tf.linalg.eigh(gram + 1e-6 * tf.eye(r))
        sig = tf.sqrt(tf.maximum(lam, 1e-8))
        basis = tf.matmul(u / sig[None, :], G, transpose_a=True)
        coef = tf.linalg.matvec(basis, g)
        inside = tf.linalg.matvec(basis, coef / (sig + self.eps), transpose_a=True)
        rest = g - tf.linalg.matvec(basis, coef, transpose_a=True)
        return inside + rest / (sig[-1] + self.eps)

    def apply(self, grads):
        g = self.flatten(grads)
        self.window.append(g)
        d = self.direction(g) * self.lr
        for v, part, shape in zip(self.variables, tf.split(d, self.sizes), self.shapes):
            v.assign_sub(tf.reshape(part, shape))


def build(points):
    return tf.keras.Sequential(
        [
            tf.keras.Input((points,)),
            tf.keras.layers.Dense(384, activation="tanh"),
            tf.keras.layers.Dense(384, activation="tanh"),
            tf.keras.layers.Dense(2),
        ]
    )


def main():
    cfg = parse()
    tf.keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x, y = reed_profiles(8192, cfg.points, rng)
    xv, yv = reed_profiles(1024, cfg.points, rng)
    y_mean, y_std = y.mean(0), y.std(0)
    y, yv = (y - y_mean) / y_std, (yv - y_mean) / y_std
    model = build(cfg.points)
    opt = WindowedFullMatrix(model.trainable_variables, cfg.lr, cfg.rank)
    x, y = tf.constant(x), tf.constant(y)

    @tf.function
    def loss_and_grads(idx):
        xb, yb = tf.gather(x, idx), tf.gather(y, idx)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(xb, training=True) - yb))
        return loss, tape.gradient(loss, model.trainable_variables)

    start = time.time()
    for step in range(cfg.steps):
        idx = tf.constant(rng.integers(0, 8192, cfg.batch), tf.int32)
        loss, grads = loss_and_grads(idx)
        opt.apply(grads)
        if (step + 1) % 25 == 0:
            print(f"step {step + 1:4d}  mse {float(loss):.4f}")
    val = float(tf.reduce_mean(tf.square(model(xv) - yv)))
    print(f"validation mse {val:.4f}")
    print(f"train_seconds {time.time() - start:.2f}")


if __name__ == "__main__":
    main()
