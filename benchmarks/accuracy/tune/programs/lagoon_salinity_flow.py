"""Coupling flow for lagoon water samples. Alternates blocks of maximum likelihood on the
samples with blocks of reverse KL against an ecological prior."""

import argparse
import math
import time

import numpy as np
import tensorflow as tf

DIM = 16


def samples(n, rng):
    salt = rng.gamma(3.0, 0.4, (n, 1))
    mix = rng.normal(size=(1, DIM))
    x = np.log(salt) * mix + 0.3 * rng.standard_normal((n, DIM))
    x[:, ::3] += np.sin(2 * x[:, 1:2])
    return ((x - x.mean(0)) / x.std(0)).astype("float32")


class Coupling(tf.Module):
    def __init__(self, flip, width, gen):
        super().__init__()
        half = DIM // 2
        self.flip = flip
        self.w1 = tf.Variable(gen.normal((half, width)) / half**0.5)
        self.w2 = tf.Variable(gen.normal((width, width)) / width**0.5)
        self.w3 = tf.Variable(gen.normal((width, 2 * half)) * 0.01)
        self.b1, self.b2 = tf.Variable(tf.zeros(width)), tf.Variable(tf.zeros(width))

    def net(self, a):
        h = tf.nn.relu(a @ self.w1 + self.b1)
        h = tf.nn.relu(h @ self.w2 + self.b2)
        s, t = tf.split(h @ self.w3, 2, axis=1)
        return 1.5 * tf.tanh(s), t

    def forward(self, x):
        a, b = tf.split(x, 2, axis=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a)
        b = b * tf.exp(s) + t
        return tf.concat([b, a] if self.flip else [a, b], 1), tf.reduce_sum(s, 1)

    def inverse(self, y):
        a, b = tf.split(y, 2, axis=1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a)
        b = (b - t) * tf.exp(-s)
        return tf.concat([b, a] if self.flip else [a, b], 1), -tf.reduce_sum(s, 1)


class Flow(tf.Module):
    def __init__(self, depth, width, seed):
        super().__init__()
        gen = tf.random.Generator.from_seed(seed)
        self.parts = [Coupling(i % 2 == 1, width, gen) for i in range(depth)]

    def log_prob(self, x):
        total = 0.0
        for p in self.parts:
            x, ld = p.forward(x)
            total += ld
        return total - 0.5 * tf.reduce_sum(x**2, 1) - 0.5 * DIM * math.log(2 * math.pi)

    def sample(self, n):
        z = tf.random.normal((n, DIM))
        logq = -0.5 * tf.reduce_sum(z**2, 1) - 0.5 * DIM * math.log(2 * math.pi)
        for p in reversed(self.parts):
            z, ld = p.inverse(z)
            logq -= ld
        return z, logq


def prior(x):
    """soft walls: no species lives outside |x| < 3, neighbours are alike"""
    wall = tf.reduce_sum(tf.nn.softplus(4 * (tf.abs(x) - 3)), 1)
    return -wall - 0.2 * tf.reduce_sum((x[:, 1:] - x[:, :-1]) ** 2, 1)


def build(flow, data, batch, lr):
    opt = tf.keras.optimizers.Adam(lr)
    opt.build(flow.trainable_variables)
    v = flow.trainable_variables

    @tf.function
    def likelihood_block(n):
        loss = 0.0
        for _ in tf.range(n):
            pick = tf.random.uniform((batch,), 0, len(data), tf.int32)
            with tf.GradientTape() as tape:
                loss = -tf.reduce_mean(flow.log_prob(tf.gather(data, pick)))
            opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    @tf.function
    def prior_block(n):
        loss = 0.0
        for _ in tf.range(n):
            with tf.GradientTape() as tape:
                x, logq = flow.sample(batch)
                loss = tf.reduce_mean(logq - prior(x))
            grads = [0.1 * g for g in tape.gradient(loss, v)]
            opt.apply_gradients(zip(grads, v))
        return loss

    return likelihood_block, prior_block


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=40)
    ap.add_argument("--batch", type=int, default=640)
    a = ap.parse_args()
    tf.random.set_seed(2)
    data = tf.constant(samples(20000, np.random.default_rng(2)))
    flow = Flow(6, 256, 2)
    ml, rev = build(flow, data, a.batch, 5e-4)
    t0 = time.time()
    for r in range(a.rounds):
        nll = ml(tf.constant(20))
        kl = rev(tf.constant(8))
        if r % 5 == 4:
            print(
                f"round {r}: nll {float(nll):.3f}  reverse kl {float(kl):.3f}  {time.time() - t0:.1f} s"
            )
