"""World model of a geyser field and a valve policy, trained in turns; the replay fills as the valves are played."""

import argparse
import time
from collections import namedtuple

import numpy as np
import tensorflow as tf

Sizes = namedtuple("Sizes", "obs act fields horizon")
S = Sizes(obs=24, act=4, fields=64, horizon=30)


class GeyserField:
    """Many basins at once: heat flows in, valves let pressure out."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.A = (0.92 * np.linalg.qr(rng.normal(size=(S.obs, S.obs)))[0]).astype("float32")
        self.B = (0.3 * rng.normal(size=(S.act, S.obs))).astype("float32")
        self.rng = rng

    def reset(self):
        self.state = self.rng.normal(size=(S.fields, S.obs)).astype("float32")
        return self.state

    def step(self, a):
        noise = 0.05 * self.rng.standard_normal(self.state.shape, dtype="float32")
        self.state = np.tanh(self.state @ self.A + a @ self.B) + noise
        return self.state


class Replay:
    def __init__(self, size):
        self.s = np.zeros((size, S.obs), "float32")
        self.a = np.zeros((size, S.act), "float32")
        self.n = np.zeros((size, S.obs), "float32")
        self.size, self.at, self.full = size, 0, 0

    def add(self, s, a, n):
        sl = (self.at + np.arange(len(s))) % self.size
        self.s[sl], self.a[sl], self.n[sl] = s, a, n
        self.at = (self.at + len(s)) % self.size
        self.full = min(self.size, self.full + len(s))

    def sample(self, rng, k):
        i = rng.integers(0, self.full, k)
        return self.s[i], self.a[i], self.n[i]


def mlp(n_in, width, n_out, act=None):
    L = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input((n_in,)),
            L.Dense(width, "silu"),
            L.Dense(width, "silu"),
            L.Dense(n_out, act),
        ]
    )


class Agent:
    def __init__(self):
        self.world = mlp(S.obs + S.act, 512, S.obs)
        self.policy = mlp(S.obs, 256, S.act, "tanh")
        self.wopt = tf.keras.optimizers.Adam(1e-3)
        self.popt = tf.keras.optimizers.Adam(3e-4)
        self.wopt.build(self.world.trainable_variables)
        self.popt.build(self.policy.trainable_variables)
        self.act = tf.function(self.policy)

    @tf.function
    def fit_world(self, s, a, n):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(s + self.world(tf.concat([s, a], 1)) - n))
        v = self.world.trainable_variables
        self.wopt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    @tf.function
    def fit_policy(self, s):
        v = [w.value for w in self.policy.trainable_variables]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(v)
            cost = 0.0
            for _ in range(6):
                a = self.policy(s)
                s = s + self.world(tf.concat([s, a], 1))
                cost += tf.reduce_mean(tf.square(s)) + 0.01 * tf.reduce_mean(tf.square(a))
        self.popt.apply_gradients(zip(tape.gradient(cost, v), self.policy.trainable_variables))
        return cost


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rounds", type=int, default=8)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(64)
    rng = np.random.default_rng(64)
    field, replay, agent = GeyserField(64), Replay(12000), Agent()
    t0 = time.time()
    for r in range(args.rounds):
        s, seen = field.reset(), 0.0
        for _ in range(S.horizon):
            a = agent.act(s).numpy() + 0.3 * rng.standard_normal((S.fields, S.act), dtype="float32")
            n = field.step(a)
            replay.add(s, a, n)
            seen += float(np.mean(n**2))
            s = n
        wl = [float(agent.fit_world(*replay.sample(rng, 1024))) for _ in range(30)]
        pl = [float(agent.fit_policy(replay.sample(rng, 512)[0])) for _ in range(15)]
        print(
            f"round {r}: replay {replay.full}, pressure {seen / S.horizon:.3f}, world {np.mean(wl):.4f}, "
            f"policy {np.mean(pl):.3f}, t={time.time() - t0:.1f}s",
            flush=True,
        )
    print(f"training {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
