"""Denoising diffusion on tables of tide-pool counts; compiled step, held-out check now and then."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import math
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass(frozen=True)
class Setup:
    species: int = 64
    width: int = 512
    blocks: int = 3
    batch: int = 512
    steps: int = 420
    levels: int = 200
    check_every: int = 60
    seed: int = 61


def pools(n, cfg):
    rng = np.random.default_rng(cfg.seed)
    load = np.random.default_rng(1).normal(0, 1, (6, cfg.species))
    z = rng.normal(0, 1, (n, 6))
    z[:, 0] = np.sign(z[:, 0]) * 1.5
    counts = rng.poisson(np.exp(np.clip(0.5 * z @ load + 1.0, -3, 4)))
    logc = np.log1p(counts)
    return ((logc - logc.mean(0)) / (logc.std(0) + 1e-3)).astype(np.float32)


class Denoiser(tf.Module):
    def __init__(self, cfg):
        super().__init__()
        g = tf.random.Generator.from_seed(cfg.seed)
        mk = lambda a, b, s=1.0: tf.Variable(g.normal([a, b]) * s * (1.0 / a) ** 0.5)
        self.freq = tf.constant(np.exp(np.linspace(0, 5, 16)), tf.float32)
        self.inp = mk(cfg.species + 32, cfg.width)
        self.up = [mk(cfg.width, cfg.width) for _ in range(cfg.blocks)]
        self.down = [mk(cfg.width, cfg.width, 0.1) for _ in range(cfg.blocks)]
        self.out = mk(cfg.width, cfg.species, 0.1)

    def __call__(self, x, t):
        ang = t[:, None] * self.freq
        h = tf.concat([x, tf.sin(ang), tf.cos(ang)], -1) @ self.inp
        for u, d in zip(self.up, self.down):
            h = h + tf.nn.relu(h @ u) @ d
        return h @ self.out


class Adam(tf.Module):
    def __init__(self, params, lr):
        super().__init__()
        self.p, self.lr = params, lr
        self.m = [tf.Variable(tf.zeros_like(p), trainable=False) for p in params]
        self.v = [tf.Variable(tf.zeros_like(p), trainable=False) for p in params]
        self.k = tf.Variable(0.0, trainable=False)

    def update(self, grads):
        self.k.assign_add(1.0)
        lr = self.lr * tf.sqrt(1 - 0.999**self.k) / (1 - 0.9**self.k)
        for p, m, v, g in zip(self.p, self.m, self.v, grads):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * g * g)
            p.assign_sub(lr * m / (tf.sqrt(v) + 1e-7))


def main():
    cfg = Setup()
    tf.random.set_seed(cfg.seed)
    table = pools(9000, cfg)
    held = tf.constant(table[: cfg.batch])
    table = tf.constant(table[cfg.batch :])
    net = Denoiser(cfg)
    opt = Adam(list(net.trainable_variables), 5e-4)

    def noise_loss(x0, t, eps):
        alpha = tf.cos(0.5 * math.pi * t)[:, None]
        sigma = tf.sin(0.5 * math.pi * t)[:, None]
        return tf.reduce_mean((net(alpha * x0 + sigma * eps, t) - eps) ** 2)

    @tf.function(jit_compile=True)
    def step(x0, t, eps):
        with tf.GradientTape() as tape:
            loss = noise_loss(x0, t, eps)
        opt.update(tape.gradient(loss, opt.p))
        return loss

    check = tf.function(noise_loss, jit_compile=True)
    rng = np.random.default_rng(2)
    fixed_t = tf.constant((np.arange(cfg.batch) + 0.5) / cfg.batch, tf.float32)
    fixed_eps = tf.random.normal([cfg.batch, cfg.species])
    t0 = time.time()
    for k in range(1, cfg.steps + 1):
        x0 = tf.gather(table, rng.integers(0, table.shape[0], cfg.batch))
        t = tf.constant(rng.integers(1, cfg.levels, cfg.batch) / cfg.levels, tf.float32)
        loss = step(x0, t, tf.random.normal([cfg.batch, cfg.species]))
        if k % cfg.check_every == 0:
            print(
                f"{k:5d} train {float(loss):.4f} held-out {float(check(held, fixed_t, fixed_eps)):.4f}"
            )
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
