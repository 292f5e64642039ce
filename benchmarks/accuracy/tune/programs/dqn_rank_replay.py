"""Double DQN with rank-based prioritized replay on a batch of small pole-balancing envs."""

import time
from collections import namedtuple

import numpy as np
import tensorflow as tf

CFG = {
    "envs": 16,
    "steps": 2600,
    "warmup": 64,
    "batch": 128,
    "gamma": 0.98,
    "alpha": 0.7,
    "target_every": 200,
    "eps": (1.0, 0.05, 1200),
    "hidden": 128,
    "lr": 1e-3,
}
Transition = namedtuple("Transition", "s a r s2 d")
rng = np.random.default_rng(0)


class PoleBatch:
    """Vectorised cart-pole, Euler integration."""

    def __init__(self, n):
        self.n = n
        self.s = rng.uniform(-0.05, 0.05, (n, 4)).astype("float32")
        self.len = np.zeros(n, int)
        self.finished = []

    def step(self, a):
        x, xd, th, thd = self.s.T
        f = np.where(a == 1, 10.0, -10.0)
        c, s = np.cos(th), np.sin(th)
        tmp = (f + 0.05 * thd**2 * s) / 1.1
        tha = (9.8 * s - c * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * c**2 / 1.1))
        xa = tmp - 0.05 * tha * c / 1.1
        nxt = np.stack(
            [x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1
        ).astype("float32")
        self.len += 1
        fell = (np.abs(nxt[:, 0]) > 2.4) | (np.abs(nxt[:, 2]) > 0.21)
        over = fell | (self.len >= 300)
        out = nxt.copy()
        self.finished += self.len[over].tolist()
        nxt[over] = rng.uniform(-0.05, 0.05, (over.sum(), 4))
        self.len[over] = 0
        self.s = nxt
        return out, np.where(fell, -1.0, 0.1).astype("float32"), fell


class RankReplay:
    def __init__(self, alpha):
        self.alpha = alpha
        self.items, self.td = [], []

    def add(self, tr):
        self.items.append(tr)
        self.td.append(max(self.td[-50:], default=1.0))

    def sample(self, k):
        n = len(self.items)
        self.order = sorted(range(n), key=lambda i: self.td[i], reverse=True)
        # inverse-cdf of p(rank) ~ rank^-alpha
        u = rng.random(k)
        ranks = np.minimum((n * u ** (1.0 / (1.0 - self.alpha))).astype(int), len(self.order) - 1)
        idx = [self.order[r] for r in ranks]
        return idx, Transition(*(np.asarray(c) for c in zip(*[self.items[i] for i in idx])))

    def refresh(self, idx, err):
        for i, e in zip(idx, err):
            self.td[i] = float(e)


def qnet():
    h = CFG["hidden"]
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((4,)),
            tf.keras.layers.Dense(h, "relu"),
            tf.keras.layers.Dense(h, "relu"),
            tf.keras.layers.Dense(2),
        ]
    )


class Agent:
    def __init__(self):
        self.q, self.tgt = qnet(), qnet()
        self.sync()
        self.opt = tf.keras.optimizers.Adam(CFG["lr"])

    def sync(self):
        self.tgt.set_weights(self.q.get_weights())

    @tf.function
    def greedy(self, s):
        return tf.argmax(self.q(s), -1)

    @tf.function
    def learn(self, s, a, r, s2, d):
        a2 = tf.argmax(self.q(s2), -1)
        y = r + CFG["gamma"] * (1.0 - d) * tf.gather(self.tgt(s2), a2, batch_dims=1)
        with tf.GradientTape() as tape:
            qa = tf.gather(self.q(s), a, batch_dims=1)
            td = tf.stop_gradient(y) - qa
            loss = tf.reduce_mean(tf.where(tf.abs(td) < 1, 0.5 * td**2, tf.abs(td) - 0.5))
        v = self.q.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss, tf.abs(td)


def main():
    env, mem, agent = PoleBatch(CFG["envs"]), RankReplay(CFG["alpha"]), Agent()
    e0, e1, horizon = CFG["eps"]
    t0, losses = time.time(), []
    for t in range(CFG["steps"]):
        eps = max(e1, e0 + (e1 - e0) * t / horizon)
        s = env.s
        a = agent.greedy(tf.constant(s)).numpy()
        a = np.where(rng.random(len(a)) < eps, rng.integers(0, 2, len(a)), a)
        s2, r, d = env.step(a)
        for i in range(env.n):
            mem.add(Transition(s[i], a[i], r[i], s2[i], np.float32(d[i])))
        if t < CFG["warmup"]:
            continue
        idx, b = mem.sample(CFG["batch"])
        loss, err = agent.learn(*map(tf.constant, b))
        mem.refresh(idx, err.numpy())
        losses.append(float(loss))
        if t % CFG["target_every"] == 0:
            agent.sync()
        if t % 200 == 0:
            ret = np.mean(env.finished[-40:]) if env.finished else 0
            print(
                f"step {t:5d} eps {eps:.2f} loss {np.mean(losses[-200:]):.4f} "
                f"ep_len {ret:.1f} replay {len(mem.items)} [{time.time() - t0:.1f}s]"
            )
    print("best 40-episode window:", max(np.convolve(env.finished, np.ones(40) / 40, "valid")))


if __name__ == "__main__":
    main()
