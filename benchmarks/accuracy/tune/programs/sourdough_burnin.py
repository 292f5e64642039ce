"""Recurrent observer for sourdough starters: estimate acidity (hidden) from
CO2, temperature and height readings.  Sequences are cut out of long jars at
random, so the recurrent state is brought up to date on a lead-in first and the
model is scored on the remaining minutes (as in recurrent replay)."""

import os
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf


@dataclass
class Config:
    jars: int = 60
    minutes: int = 900
    lead_in: int = 72
    scored: int = 16
    batch: int = 112
    units: int = 144
    updates: int = 180
    lr: float = 1.5e-3
    seed: int = 5


def ferment(cfg):
    rng = np.random.default_rng(cfg.seed)
    acid = np.zeros((cfg.jars, cfg.minutes), np.float32)
    obs = np.zeros((cfg.jars, cfg.minutes, 3), np.float32)
    food = np.ones(cfg.jars)
    yeast = rng.uniform(0.05, 0.15, cfg.jars)
    a = np.zeros(cfg.jars)
    for t in range(cfg.minutes):
        temp = 24 + 4 * np.sin(t / 190 + rng.normal(0, 0.01, cfg.jars))
        growth = 0.02 * yeast * food * (1 + 0.08 * (temp - 24))
        feed = rng.random(cfg.jars) < 0.004
        food = np.where(feed, 1.0, np.clip(food - growth, 0, 1))
        yeast = np.where(feed, yeast * 0.4, yeast + growth)
        a = np.where(feed, a * 0.4, a + 0.012 * yeast)
        acid[:, t] = a
        obs[:, t, 0] = growth * 200 + rng.normal(0, 0.1, cfg.jars)
        obs[:, t, 1] = (temp - 24) / 4
        obs[:, t, 2] = yeast * 2 + rng.normal(0, 0.05, cfg.jars)
    return obs, acid[..., None] / acid.std()


class Observer(tf.Module):
    def __init__(self, cfg):
        super().__init__()
        init = tf.random_normal_initializer(0.0, 0.08)
        n = cfg.units
        self.wx = tf.Variable(init((3, 3 * n)), name="wx")
        self.wh = tf.Variable(init((n, 2 * n)), name="wh")
        self.wc = tf.Variable(init((n, n)), name="wc")
        self.b = tf.Variable(tf.zeros(3 * n), name="b")
        self.wo = tf.Variable(init((n, 1)), name="wo")
        self.units = n

    def tick(self, x, h):
        n = self.units
        px = x @ self.wx + self.b
        gates = tf.sigmoid(px[:, : 2 * n] + h @ self.wh)
        z, r = gates[:, :n], gates[:, n:]
        cand = tf.tanh(px[:, 2 * n :] + (r * h) @ self.wc)
        return z * h + (1.0 - z) * cand

    def follow(self, xs, h):
        states = []
        for x in tf.unstack(xs, axis=1):
            h = self.tick(x, h)
            states.append(h)
        return tf.stack(states, axis=1), h


cfg = Config()
tf.keras.utils.set_random_seed(cfg.seed)
observer = Observer(cfg)
optimizer = tf.keras.optimizers.Adam(cfg.lr)
optimizer.build(observer.trainable_variables)


def sequence_loss(obs, acid):
    h = tf.zeros((tf.shape(obs)[0], cfg.units))
    _, h = observer.follow(obs[:, : cfg.lead_in], h)
    states, _ = observer.follow(obs[:, cfg.lead_in :], h)
    guess = tf.einsum("btn,no->bto", states, observer.wo)
    return tf.reduce_mean(tf.square(guess - acid[:, cfg.lead_in :]))


@tf.function
def improve(obs, acid):
    with tf.GradientTape() as tape:
        loss = sequence_loss(obs, acid)
    grads = tape.gradient(loss, observer.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, observer.trainable_variables))
    return loss


obs, acid = ferment(cfg)
rng = np.random.default_rng(1)
span = cfg.lead_in + cfg.scored
print("jars", obs.shape, "span", span)
for step in range(cfg.updates):
    jar = rng.integers(0, cfg.jars, cfg.batch)
    start = rng.integers(0, cfg.minutes - span, cfg.batch)
    cols = start[:, None] + np.arange(span)[None]
    loss = improve(tf.constant(obs[jar[:, None], cols]), tf.constant(acid[jar[:, None], cols]))
    if step % 45 == 0 or step == cfg.updates - 1:
        print(f"update {step:3d} mse {loss.numpy():.4f}")
