"""Bayesian calibration of an old sundial by HMC on many shadow readings.

Phase one: warm start by simulated tempering at fixed temperature.
Phase two: the temperature is lowered towards 1 and the leapfrog step follows it.
"""

import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Settings:
    readings: int = 150000
    features: int = 40
    hidden: int = 12
    warm: int = 40
    anneal: int = 30
    leapfrog: int = 5
    t_hot: float = 20.0
    eps0: float = 1.8e-4
    seed: int = 5


def make_readings(cfg):
    rng = np.random.default_rng(cfg.seed)
    hour = rng.uniform(-6, 6, cfg.readings)
    day = rng.uniform(0, 365, cfg.readings)
    cols = []
    for k in range(cfg.features // 4):
        cols += [
            np.sin((k + 1) * hour / 4),
            np.cos((k + 1) * hour / 4),
            np.sin((k + 1) * day / 58),
            np.cos((k + 1) * day / 58),
        ]
    x = np.stack(cols, 1).astype(np.float32)
    decl = 0.41 * np.sin(2 * np.pi * (day - 81) / 365)
    shadow = np.arctan(np.tan(hour * np.pi / 14) * np.cos(decl + 0.2))
    y = (shadow + 0.05 * rng.normal(size=cfg.readings)).astype(np.float32)
    return tf.constant(x), tf.constant(y[:, None])


class ShadowPosterior:
    def __init__(self, cfg, x, y):
        self.cfg, self.x, self.y = cfg, x, y
        f, h = cfg.features, cfg.hidden
        self.sizes = [f * h, h, h, 1]
        self.dim = sum(self.sizes)

    def unpack(self, theta):
        a, b, c, d = tf.split(theta, self.sizes)
        return tf.reshape(a, [self.cfg.features, self.cfg.hidden]), b, c[:, None], d

    def energy(self, theta):
        w, b, v, d = self.unpack(theta)
        mu = tf.tanh(self.x @ w + b) @ v + d
        lik = 0.5 * tf.reduce_sum(((self.y - mu) / 0.05) ** 2)
        return lik + 0.5 * tf.reduce_sum(theta**2)

    def energy_grad(self, theta):
        with tf.GradientTape() as tape:
            tape.watch(theta)
            u = self.energy(theta)
        return u, tape.gradient(u, theta)

    @tf.function
    def transition(self, theta, eps, temperature):
        """One HMC proposal with accept/reject."""
        p0 = tf.random.normal([self.dim])
        u0, g = self.energy_grad(theta)
        q, p = theta, p0
        for _ in range(self.cfg.leapfrog):
            p = p - 0.5 * eps * g / temperature
            q = q + eps * p
            u, g = self.energy_grad(q)
            p = p - 0.5 * eps * g / temperature
        h0 = u0 / temperature + 0.5 * tf.reduce_sum(p0**2)
        h1 = u / temperature + 0.5 * tf.reduce_sum(p**2)
        ok = tf.math.log(tf.random.uniform([])) < h0 - h1
        return tf.where(ok, q, theta), ok, tf.where(ok, u, u0)


def temperature_at(cfg, k):
    if k < cfg.warm:
        return cfg.t_hot
    frac = (k - cfg.warm + 1) / cfg.anneal
    return cfg.t_hot ** (1.0 - frac)


def main():
    cfg = Settings()
    tf.random.set_seed(cfg.seed)
    x, y = make_readings(cfg)
    post = ShadowPosterior(cfg, x, y)
    theta = tf.random.normal([post.dim], stddev=0.1)
    accepted, energies = 0, []
    start = time.time()
    for k in range(cfg.warm + cfg.anneal):
        temp = temperature_at(cfg, k)
        eps = cfg.eps0 * (temp / cfg.t_hot) ** 0.5
        theta, ok, u = post.transition(theta, eps, temp)
        accepted += int(ok)
        energies.append(float(u))
        if k % 10 == 9:
            print(
                f"draw {k + 1:3d}  T={temp:6.2f}  U={energies[-1]:.1f}  acc={accepted / (k + 1):.2f}"
            )
    w, b, v, d = post.unpack(theta)
    mu = tf.tanh(x @ w + b) @ v + d
    print("rmse of shadow angle: %.4f" % float(tf.sqrt(tf.reduce_mean((mu - y) ** 2))))
    print("sampling: %.2f s" % (time.time() - start))


if __name__ == "__main__":
    main()
