"""Fit turbine power output from weather and rotor readings with full-batch L-BFGS."""

from collections import deque
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class FitOptions:
    rows: int = 3000
    hidden: tuple = (96, 96, 48)
    iterations: int = 250
    memory: int = 12
    l2: float = 1e-5
    report_every: int = 50


def make_readings(n, seed=0):
    rng = np.random.default_rng(seed)
    wind = rng.weibull(2.0, n) * 9.0
    direction = rng.uniform(0, 2 * np.pi, n)
    temp, pressure = rng.normal(10, 8, n), rng.normal(1010, 10, n)
    pitch = np.clip(rng.normal(2, 3, n), -2, 20)
    turbulence = rng.gamma(2.0, 0.05, n)
    density = pressure / (2.87 * (temp + 273.15))
    curve = 1 / (1 + np.exp(-(wind - 8.5) / 1.4)) * (wind < 25)
    power = curve * density / 1.22 * np.cos(np.radians(3 * pitch)) * (1 - 0.6 * turbulence)
    power *= 1 + 0.05 * np.sin(3 * direction)
    x = np.stack([wind, np.sin(direction), np.cos(direction), temp, pressure, pitch, turbulence], 1)
    x = (x - x.mean(0)) / x.std(0)
    return x.astype("float32"), (power + rng.normal(0, 0.02, n)).astype("float32")


class FlatMLP:
    """An MLP whose parameters live in one vector."""

    def __init__(self, sizes, l2, seed=0):
        rng = np.random.default_rng(seed)
        self.shapes, parts = [], []
        for a, b in zip(sizes[:-1], sizes[1:]):
            self.shapes += [(a, b), (b,)]
            parts += [rng.normal(0, np.sqrt(1.0 / a), a * b), np.zeros(b)]
        self.theta = tf.constant(np.concatenate(parts), tf.float32)
        self.l2 = l2

    def forward(self, theta, x):
        sizes = [int(np.prod(s)) for s in self.shapes]
        mats = [tf.reshape(p, s) for p, s in zip(tf.split(theta, sizes), self.shapes)]
        for i in range(0, len(mats) - 2, 2):
            x = tf.tanh(x @ mats[i] + mats[i + 1])
        return (x @ mats[-2] + mats[-1])[:, 0]

    @tf.function
    def value_and_grad(self, theta, x, y):
        with tf.GradientTape() as tape:
            tape.watch(theta)
            loss = tf.reduce_mean(tf.square(self.forward(theta, x) - y))
            loss += self.l2 * tf.reduce_sum(tf.square(theta))
        return loss, tape.gradient(loss, theta)

    @tf.function
    def value(self, theta, x, y):
        return tf.reduce_mean(tf.square(self.forward(theta, x) - y))


class LBFGS:
    def __init__(self, objective, memory, min_curvature=1e-10):
        self.objective = objective
        self.memory = memory
        self.min_curvature = min_curvature
        self.pairs = deque()

    def direction(self, grad):
        q, alphas = grad, []
        for s, y, rho in reversed(self.pairs):
            a = rho * tf.tensordot(s, q, 1)
            q = q - a * y
            alphas.append(a)
        if self.pairs:
            s, y, rho = self.pairs[-1]
            q = q / (rho * tf.tensordot(y, y, 1))
        for (s, y, rho), a in zip(self.pairs, reversed(alphas)):
            b = rho * tf.tensordot(y, q, 1)
            q = q + (a - b) * s
        return -q

    def remember(self, s, y):
        curvature = tf.tensordot(s, y, 1)
        if float(curvature) > self.min_curvature:
            self.pairs.append((s, y, 1.0 / curvature))
        elif len(self.pairs) > self.memory:
            self.pairs.popleft()

    def step(self, theta, loss, grad):
        d = self.direction(grad)
        slope = float(tf.tensordot(grad, d, 1))
        t = 1.0 if self.pairs else min(1.0, 1.0 / float(tf.norm(grad)))
        for _ in range(12):
            trial = theta + t * d
            new_loss, new_grad = self.objective(trial)
            if float(new_loss) <= float(loss) + 1e-4 * t * slope:
                break
            t *= 0.5
        self.remember(trial - theta, new_grad - grad)
        return trial, new_loss, new_grad


def main():
    opt = FitOptions()
    x, y = make_readings(opt.rows + 1000)
    train_x, train_y = tf.constant(x[: opt.rows]), tf.constant(y[: opt.rows])
    test_x, test_y = tf.constant(x[opt.rows :]), tf.constant(y[opt.rows :])
    net = FlatMLP((x.shape[1], *opt.hidden, 1), opt.l2)
    objective = lambda theta: net.value_and_grad(theta, train_x, train_y)
    solver = LBFGS(objective, opt.memory)
    theta = net.theta
    loss, grad = objective(theta)
    for it in range(1, opt.iterations + 1):
        theta, loss, grad = solver.step(theta, loss, grad)
        if it % opt.report_every == 0:
            rmse = float(net.value(theta, test_x, test_y)) ** 0.5
            print(f"iteration {it} objective {float(loss):.6f} test rmse {rmse:.4f}")


if __name__ == "__main__":
    main()
