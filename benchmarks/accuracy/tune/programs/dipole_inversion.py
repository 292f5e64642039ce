"""Fit a small field network to magnetometer readings with a quasi-Newton method."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Settings:
    stations: int = 6000
    hidden: int = 96
    iterations: int = 200
    damping: float = 1e-4
    seed: int = 17


def survey(cfg):
    rng = np.random.default_rng(cfg.seed)
    pos = rng.uniform(-1, 1, (cfg.stations, 2))
    field = np.zeros(cfg.stations)
    for _ in range(6):
        src = rng.uniform(-1, 1, 2)
        depth, m = rng.uniform(0.15, 0.4), rng.normal()
        r2 = ((pos - src) ** 2).sum(1) + depth**2
        field += m * (2 * depth**2 - (r2 - depth**2)) / r2**2.5
    field = (field - field.mean()) / field.std()
    return pos.astype(np.float32), field.astype(np.float32)


class FieldNet(tf.Module):
    def __init__(self, hidden, seed):
        super().__init__()
        g = tf.random.Generator.from_seed(seed)
        sizes = [2, hidden, hidden, hidden, 1]
        self.shapes = []
        flat = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.shapes += [(a, b), (b,)]
            flat += [tf.reshape(g.normal([a, b]) * (1.0 / a) ** 0.5, [-1]), tf.zeros([b])]
        self.theta = tf.Variable(tf.concat(flat, 0))

    def __call__(self, x):
        parts = tf.split(self.theta, [int(np.prod(s)) for s in self.shapes])
        parts = [tf.reshape(p, s) for p, s in zip(parts, self.shapes)]
        for i in range(0, len(parts), 2):
            x = x @ parts[i] + parts[i + 1]
            if i < len(parts) - 2:
                x = tf.sin(2.0 * x)
        return x[:, 0]


class QuasiNewton:
    def __init__(self, theta, value_and_grad):
        self.theta, self.fn = theta, value_and_grad
        self.pairs = []
        self.loss, self.grad = self.fn()

    def direction(self):
        q = self.grad
        alphas = []
        for s, y, rho in reversed(self.pairs):
            a = rho * tf.tensordot(s, q, 1)
            q = q - a * y
            alphas.append(a)
        if self.pairs:
            s, y, rho = self.pairs[-1]
            q = q / (rho * tf.tensordot(y, y, 1))
        for (s, y, rho), a in zip(self.pairs, reversed(alphas)):
            q = q + (a - rho * tf.tensordot(y, q, 1)) * s
        return -q

    def iterate(self):
        d = self.direction() if self.pairs else -self.grad * 0.01
        slope = tf.tensordot(d, self.grad, 1)
        start, step = tf.identity(self.theta), 1.0
        for _ in range(6):
            self.theta.assign(start + step * d)
            loss, grad = self.fn()
            if loss <= self.loss + 1e-4 * step * slope:
                break
            step *= 0.4
        s, y = self.theta - start, grad - self.grad
        sy = tf.tensordot(s, y, 1)
        if sy > 1e-10:
            self.pairs.append((s, y, 1.0 / sy))
        self.loss, self.grad = loss, grad
        return float(loss), step


def main():
    cfg = Settings()
    tf.random.set_seed(cfg.seed)
    pos, field = survey(cfg)
    net = FieldNet(cfg.hidden, cfg.seed)
    pos, field = tf.constant(pos), tf.constant(field)

    @tf.function
    def value_and_grad():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(pos) - field) ** 2)
            loss += cfg.damping * tf.reduce_mean(net.theta**2)
        return loss, tape.gradient(loss, net.theta)

    t0 = time.time()
    opt = QuasiNewton(net.theta, value_and_grad)
    for k in range(cfg.iterations):
        loss, step = opt.iterate()
        if k % 20 == 0:
            print(f"iter {k:4d} misfit {loss:.6f} step {step:.3f}")
    print("final misfit", loss)
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
