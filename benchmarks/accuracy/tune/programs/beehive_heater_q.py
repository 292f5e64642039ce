"""Q-learning of an electric hive heater.  64 simulated hives run side by side;
one update after each tick as soon as the memory holds enough."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Settings:
    hives: int = 64
    ticks: int = 400
    learn_after: int = 60  # ticks
    batch: int = 2048
    capacity: int = 20000
    gamma: float = 0.97
    width: int = 448
    eval_every: int = 90
    seed: int = 2024


class Hives:
    """Brood temperature, store of honey, weather; 4 heater levels."""

    DIM = 12

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.s = self.rng.normal(0, 1, (n, self.DIM)).astype(np.float32)

    def tick(self, a):
        s = self.s
        heat = a.astype(np.float32) / 3
        new = 0.9 * s + 0.1 * self.rng.normal(0, 1, s.shape).astype(np.float32)
        new[:, 0] = s[:, 0] + 0.2 * heat - 0.1 + 0.05 * s[:, 1]
        reward = -np.abs(new[:, 0]) - 0.15 * heat
        done = np.abs(new[:, 0]) > 3
        new[done] = self.rng.normal(0, 0.5, (done.sum(), self.DIM))
        self.s = new
        return s, reward.astype(np.float32), new, done.astype(np.float32)


class Memory:
    def __init__(self, cap, dim):
        self.s = np.zeros((cap, dim), np.float32)
        self.s2 = np.zeros((cap, dim), np.float32)
        self.a = np.zeros(cap, np.int32)
        self.r = np.zeros(cap, np.float32)
        self.d = np.zeros(cap, np.float32)
        self.cap, self.pos, self.size = cap, 0, 0

    def add(self, s, a, r, s2, d):
        i = (self.pos + np.arange(len(a))) % self.cap
        self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i] = s, a, r, s2, d
        self.pos = (self.pos + len(a)) % self.cap
        self.size = min(self.size + len(a), self.cap)

    def sample(self, n, rng):
        i = rng.integers(0, self.size, n)
        return self.s[i], self.a[i], self.r[i], self.s2[i], self.d[i]


def net(width):
    L = tf.keras.layers
    x = inp = L.Input((Hives.DIM,))
    for _ in range(3):
        x = L.Dense(width, activation="relu")(x)
    v, adv = L.Dense(1)(x), L.Dense(4)(x)
    return tf.keras.Model(inp, v + adv)


def main():
    cfg = Settings()
    tf.keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    q, tq = net(cfg.width), net(cfg.width)
    tq.set_weights(q.get_weights())
    opt = tf.keras.optimizers.Adam(3e-4)
    opt.build(q.trainable_variables)

    @tf.function
    def greedy(s):
        return tf.argmax(q(s), 1, tf.int32)

    @tf.function
    def learn(s, a, r, s2, d):
        goal = r + cfg.gamma * (1 - d) * tf.gather(tq(s2), tf.argmax(q(s2), 1), batch_dims=1)
        with tf.GradientTape() as tape:
            td = tf.gather(q(s), a, batch_dims=1) - goal
            loss = tf.reduce_mean(tf.where(tf.abs(td) < 1, 0.5 * td * td, tf.abs(td) - 0.5))
        opt.apply_gradients(zip(tape.gradient(loss, q.trainable_variables), q.trainable_variables))
        for t, o in zip(tq.variables, q.variables):
            t.assign(0.99 * t + 0.01 * o)
        return loss

    def evaluate():
        test, total = Hives(cfg.hives, 1), 0.0
        for _ in range(20):
            total += test.tick(greedy(test.s).numpy())[1].mean()
        return total / 20

    env, mem = Hives(cfg.hives, cfg.seed), Memory(cfg.capacity, Hives.DIM)
    for t in range(cfg.ticks):
        eps = max(0.05, 1 - t / 200)
        a = greedy(env.s).numpy()
        a = np.where(rng.random(cfg.hives) < eps, rng.integers(0, 4, cfg.hives), a).astype(np.int32)
        s, r, s2, d = env.tick(a)
        mem.add(s, a, r, s2, d)
        if t >= cfg.learn_after:
            loss = learn(*mem.sample(cfg.batch, rng))
        if t % cfg.eval_every == cfg.eval_every - 1:
            print(
                f"tick {t + 1} memory {mem.size} eps {eps:.2f} loss {float(loss):.4f} reward {evaluate():.3f}"
            )


if __name__ == "__main__":
    main()
