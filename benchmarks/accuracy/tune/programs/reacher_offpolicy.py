"""Off-policy training of the two-link reacher from the bench setup.

The arm answers at 50 Hz. We first pre-train on recorded demonstrations, then the
collector thread drives the arm while the learner keeps updating (TD3-style).
The bench is replaced by a small dynamics model with the same timing.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import threading
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
OBS, ACT = 10, 2
PRETRAIN_UPDATES, ONLINE_UPDATES = 1300, 900
BATCH, GAMMA, TAU = 256, 0.98, 0.005


class BenchArm:
    """Two joints, torque input, one observation per 20 ms control tick."""

    DT = 0.02

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.deadline = None
        self.reset()

    def reset(self):
        self.q, self.v = self.rng.uniform(-1, 1, 2), np.zeros(2)
        self.goal = self.rng.uniform(-1.5, 1.5, 2)
        self.t = 0
        return self.observe()

    def observe(self):
        tip = np.array(
            [np.cos(self.q[0]) + np.cos(self.q.sum()), np.sin(self.q[0]) + np.sin(self.q.sum())]
        )
        self.dist = np.linalg.norm(tip - self.goal)
        return np.concatenate([np.cos(self.q), np.sin(self.q), self.v, self.goal, tip]).astype(
            np.float32
        )

    def advance(self, torque):
        self.v = 0.97 * self.v + self.DT * 8 * np.clip(torque, -1, 1)
        self.q = self.q + self.DT * self.v
        self.t += 1
        obs = self.observe()
        return obs, -self.dist - 0.01 * float(np.square(torque).sum()), self.t >= 150

    def step(self, torque):
        now = time.perf_counter()
        self.deadline = max(now, (self.deadline or now)) + self.DT
        result = self.advance(torque)
        time.sleep(max(0.0, self.deadline - time.perf_counter()))  # encoder frame arrives
        return result


class Replay:
    def __init__(self, size=50_000):
        self.o, self.n = np.zeros((size, OBS), np.float32), np.zeros((size, OBS), np.float32)
        self.a = np.zeros((size, ACT), np.float32)
        self.r, self.d = np.zeros(size, np.float32), np.zeros(size, np.float32)
        self.size, self.count = size, 0
        self.rng = np.random.default_rng(1)

    def add(self, o, a, r, n, d):
        i = self.count % self.size
        self.o[i], self.a[i], self.r[i], self.n[i], self.d[i] = o, a, r, n, d
        self.count += 1

    def sample(self):
        i = self.rng.integers(0, min(self.count, self.size), BATCH)
        return self.o[i], self.a[i], self.r[i], self.n[i], self.d[i]


def mlp(n_in, n_out, act=None):
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((n_in,)),
            tf.keras.layers.Dense(256, "relu"),
            tf.keras.layers.Dense(256, "relu"),
            tf.keras.layers.Dense(n_out, act),
        ]
    )


actor, actor_t = mlp(OBS, ACT, "tanh"), mlp(OBS, ACT, "tanh")
critics = [mlp(OBS + ACT, 1) for _ in range(2)]
critics_t = [mlp(OBS + ACT, 1) for _ in range(2)]
opt_a, opt_c = tf.keras.optimizers.Adam(3e-4), tf.keras.optimizers.Adam(1e-3)
ONLINE = actor.trainable_variables + critics[0].trainable_variables + critics[1].trainable_variables
TARGET = (
    actor_t.trainable_variables
    + critics_t[0].trainable_variables
    + critics_t[1].trainable_variables
)
for t, s in zip(TARGET, ONLINE):
    t.assign(s)


@tf.function
def update(o, a, r, n, d):
    an = tf.clip_by_value(
        actor_t(n) + tf.clip_by_value(tf.random.normal(tf.shape(a), stddev=0.2), -0.4, 0.4), -1, 1
    )
    qn = tf.minimum(*[c(tf.concat([n, an], 1)) for c in critics_t])
    y = r[:, None] + GAMMA * (1 - d[:, None]) * qn
    with tf.GradientTape() as tape:
        loss_c = tf.add_n([tf.reduce_mean(tf.square(y - c(tf.concat([o, a], 1)))) for c in critics])
    cv = critics[0].trainable_variables + critics[1].trainable_variables
    opt_c.apply_gradients(zip(tape.gradient(loss_c, cv), cv))
    with tf.GradientTape() as tape:
        loss_a = -tf.reduce_mean(critics[0](tf.concat([o, actor(o)], 1)))
    opt_a.apply_gradients(
        zip(tape.gradient(loss_a, actor.trainable_variables), actor.trainable_variables)
    )
    for t, s in zip(TARGET, ONLINE):
        t.assign_add(TAU * (s - t))
    return loss_c


@tf.function(input_signature=[tf.TensorSpec([1, OBS], tf.float32)])
def policy(o):
    return actor(o)


class Collector(threading.Thread):
    def __init__(self, replay, lock, stop):
        super().__init__(daemon=True)
        self.replay, self.lock, self.stop = replay, lock, stop
        self.env, self.returns = BenchArm(seed=7), []

    def run(self):
        rng = np.random.default_rng(3)
        obs, total = self.env.reset(), 0.0
        while not self.stop.is_set():
            action = policy(obs[None])[0].numpy() + 0.1 * rng.normal(size=ACT).astype(np.float32)
            with self.lock:
                nxt, reward, done = self.env.step(action)
                self.replay.add(obs, action, reward, nxt, False)
            total += reward
            obs = nxt
            if done:
                self.returns.append(total)
                obs, total = self.env.reset(), 0.0


def main():
    replay, lock, stop = Replay(), threading.Lock(), threading.Event()
    demo, rng = BenchArm(seed=5), np.random.default_rng(2)
    obs = demo.reset()
    for _ in range(4000):  # recorded demonstrations, no clock involved
        a = np.clip(rng.normal(size=2) * 0.5, -1, 1).astype(np.float32)
        nxt, r, done = demo.advance(a)
        replay.add(obs, a, r, nxt, False)
        obs = demo.reset() if done else nxt

    collector = Collector(replay, lock, stop)
    for k in range(PRETRAIN_UPDATES + ONLINE_UPDATES):
        if k == PRETRAIN_UPDATES:
            print("switching to the bench, updates so far:", k)
            collector.start()
        with lock:
            batch = replay.sample()
        loss = update(*batch)
        if k % 200 == 0:
            print(
                f"{k:5d} critic {float(loss):8.4f} transitions {replay.count} "
                f"return {np.mean(collector.returns[-5:]) if collector.returns else float('nan'):.1f}"
            )
    stop.set()
    collector.join()


if __name__ == "__main__":
    main()
