"""A population of networks predicts where truffles grow; the weak ones copy the strong."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import gc
import resource
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Plan:
    members: int = 6
    generations: int = 9
    inner_steps: int = 16
    batch: int = 384
    hidden: int = 256
    seed: int = 29


def woodland(n, rng):
    x = rng.uniform(-1, 1, (n, 10)).astype(np.float32)
    moist = np.sin(3 * x[:, 0]) * x[:, 1] + np.cos(2 * x[:, 2] * x[:, 3])
    y = (moist + 0.5 * x[:, 4] ** 2 + rng.normal(0, 0.1, n)).astype(np.float32)
    return x, y


class Member(tf.Module):
    def __init__(self, plan, lr):
        super().__init__()
        h = plan.hidden
        self.layers = []
        for a, b in ((10, h), (h, h), (h, h), (h, 1)):
            w = tf.Variable(tf.random.normal([a, b]) * (1.5 / a) ** 0.5)
            self.layers.append((w, tf.Variable(tf.zeros([b]))))
        self.lr = tf.Variable(lr, trainable=False)
        self.mom = [
            tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trainable_variables
        ]
        self.score = np.inf

    def predict(self, x):
        for i, (w, b) in enumerate(self.layers):
            x = x @ w + b
            if i < len(self.layers) - 1:
                x = tf.nn.swish(x)
        return x[:, 0]

    @tf.function
    def learn(self, x, y):
        params = self.trainable_variables
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.predict(x) - y) ** 2)
        for p, m, g in zip(params, self.mom, tape.gradient(loss, params)):
            m.assign(0.9 * m + g)
            p.assign_sub(self.lr * m)
        return loss

    @tf.function
    def error(self, x, y):
        return tf.reduce_mean((self.predict(x) - y) ** 2)

    def copy_from(self, other, rng):
        for a, b in zip(self.trainable_variables, other.trainable_variables):
            a.assign(b)
        for m in self.mom:
            m.assign(tf.zeros_like(m))
        self.lr.assign(float(other.lr) * rng.choice([0.8, 1.25]))


def memory_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def train_member(member, x, y, plan, rng):
    for _ in range(plan.inner_steps):
        idx = rng.integers(0, len(x), plan.batch)
        loss = member.learn(tf.constant(x[idx]), tf.constant(y[idx]))
    gc.collect()
    return float(loss)


def main():
    plan = Plan()
    tf.random.set_seed(plan.seed)
    rng = np.random.default_rng(plan.seed)
    x, y = woodland(6000, rng)
    xv, yv = (tf.constant(a) for a in woodland(800, rng))
    group = [Member(plan, float(10 ** rng.uniform(-3, -1.5))) for _ in range(plan.members)]
    t0 = time.time()
    for gen in range(plan.generations):
        for member in group:
            train_member(member, x, y, plan, rng)
            member.score = float(member.error(xv, yv))
        group.sort(key=lambda m: m.score if np.isfinite(m.score) else 1e9)
        print(
            f"gen {gen:2d} best {group[0].score:.4f} worst {group[-1].score:.4f} "
            f"rss {memory_mb():.0f} MB"
        )
        if gen % 3 == 2:
            group[-1].copy_from(group[0], rng)
            group[-2].copy_from(group[1], rng)
    print("best learning rate", float(group[0].lr))
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
