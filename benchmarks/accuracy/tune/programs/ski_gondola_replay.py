"""How many gondola cabins to put on the rope every five minutes (double DQN).

64 simulated ski days run side by side; the replay ring is filled by the tired old rule
first, then by the net.  Queue, weather, snow and time of day are what the net sees.
"""

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

ACTIONS = np.array([0.4, 0.6, 0.8, 1.0], "float32")
HISTORY = 24
FEATURES = 6


class SkiDays:
    """Vectorised simulator."""

    def __init__(self, n, rng):
        self.n, self.rng = n, rng
        self.hist = np.zeros((n, HISTORY, FEATURES), "float32")
        self.clock = rng.integers(0, 96, n)
        self.queue = np.zeros(n, "float32")
        self.storm = rng.uniform(size=n).astype("float32")
        self.cabins = np.full(n, 0.6, "float32")

    def step(self, action):
        want = ACTIONS[action]
        moved = np.abs(want - self.cabins)
        self.cabins = want
        daily = 0.5 + 0.4 * np.sin(self.clock / 96 * 2 * np.pi)
        come = self.rng.poisson(20 * daily * (1.2 - self.storm)).astype("float32") / 20
        self.queue = np.maximum(0, self.queue + come - want)
        self.storm = np.clip(self.storm + self.rng.normal(0, 0.04, self.n), 0, 1).astype("float32")
        self.clock = (self.clock + 1) % 96
        now = np.stack([self.queue, self.storm, self.cabins, daily, come, moved], 1)
        self.hist = np.concatenate([self.hist[:, 1:], now[:, None].astype("float32")], 1)
        reward = -0.5 * np.minimum(self.queue, 4) - 0.6 * want - 0.3 * moved
        return self.hist, reward.astype("float32")


class ReplayRing:
    def __init__(self, size):
        self.s = np.zeros((size, HISTORY, FEATURES), "float32")
        self.t = np.zeros((size, HISTORY, FEATURES), "float32")
        self.a = np.zeros(size, "int32")
        self.r = np.zeros(size, "float32")
        self.size, self.at, self.n = size, 0, 0

    def add(self, s, a, r, t):
        idx = (self.at + np.arange(len(a))) % self.size
        self.s[idx], self.a[idx], self.r[idx], self.t[idx] = s, a, r, t
        self.at = (self.at + len(a)) % self.size
        self.n = min(self.size, self.n + len(a))

    def sample(self, k, rng):
        i = rng.integers(0, self.n, k)
        return self.s[i], self.a[i], self.r[i], self.t[i]


def q_net():
    inp = keras.Input((HISTORY, FEATURES))
    x = layers.Conv1D(64, 3, padding="same", activation="relu")(inp)
    x = layers.Conv1D(64, 3, padding="same", activation="relu")(x)
    x = layers.Flatten()(x)
    x = layers.Dense(384, activation="relu")(x)
    v = layers.Dense(1)(x)
    a = layers.Dense(len(ACTIONS))(x)
    return keras.Model(inp, v + a - keras.ops.mean(a, axis=1, keepdims=True))


class Agent:
    def __init__(self, gamma, lr):
        self.net, self.target = q_net(), q_net()
        self.target.set_weights(self.net.get_weights())
        self.opt = keras.optimizers.Adam(lr)
        self.gamma = gamma

    @tf.function
    def act(self, s):
        return tf.argmax(self.net(s), 1, output_type=tf.int32)

    @tf.function
    def learn(self, s, a, r, t):
        best = tf.argmax(self.net(t), 1)
        after = tf.gather(self.target(t), best, batch_dims=1)
        goal = r + self.gamma * after
        with tf.GradientTape() as tape:
            q = tf.gather(self.net(s, training=True), a, batch_dims=1)
            loss = tf.reduce_mean(keras.losses.huber(goal[:, None], q[:, None]))
        grads = tape.gradient(loss, self.net.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 10.0)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        for w, o in zip(self.target.trainable_variables, self.net.trainable_variables):
            w.assign_add(0.01 * (o - w))
        return loss


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--days", type=int, default=64)
    ap.add_argument("--fill", type=int, default=120)
    ap.add_argument("--ticks", type=int, default=330)
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--ring", type=int, default=24000)
    args = ap.parse_args()
    keras.utils.set_random_seed(612)
    rng = np.random.default_rng(612)
    days, ring, agent = SkiDays(args.days, rng), ReplayRing(args.ring), Agent(0.95, 7e-4)
    s = days.hist
    for _ in range(args.fill):
        a = np.clip((days.queue * 2).astype("int32") + rng.integers(0, 2, args.days), 0, 3)
        t, r = days.step(a)
        ring.add(s, a, r, t)
        s = t
    print("ring filled with", ring.n, "ticks of the old rule")
    began, got, losses = time.time(), [], []
    for tick in range(args.ticks):
        a = agent.act(tf.constant(s)).numpy()
        wild = rng.uniform(size=args.days) < max(0.05, 0.5 - tick / 300)
        a = np.where(wild, rng.integers(0, 4, args.days), a).astype("int32")
        t, r = days.step(a)
        ring.add(s, a, r, t)
        s = t
        got.append(r.mean())
        losses.append(agent.learn(*map(tf.constant, ring.sample(args.batch, rng))))
        if (tick + 1) % 55 == 0:
            print(
                f"tick {tick + 1}: reward {np.mean(got[-55:]):.3f} td {np.mean(losses[-55:]):.4f} ring {ring.n}"
            )
    print(f"trained for {time.time() - began:.1f} s")


if __name__ == "__main__":
    main()
