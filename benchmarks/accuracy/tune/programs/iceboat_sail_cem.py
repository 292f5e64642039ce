"""Trim an iceboat sail: learn the boat's dynamics, then plan with the
cross-entropy method inside the learned model; the horizon grows per round."""

import os
from dataclasses import dataclass, field

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf


@dataclass
class Plan:
    horizons: tuple = (6, 9, 12, 16)
    candidates: int = 1800
    elites: int = 80
    refits: int = 6
    updates: int = 150
    batch: int = 1024
    seed: int = 19
    speeds: list = field(default_factory=list)


STATE, ACTION = 5, 2


class Iceboat:
    """speed, leeway, heel, heading, wind shift; actions are sheet and rudder."""

    def __init__(self, n, rng):
        self.rng = rng
        self.s = rng.normal(0, 0.5, (n, STATE)).astype(np.float32)

    @staticmethod
    def advance(s, a, noise):
        v, lee, heel, head, wind = s.T
        drive = np.sin(head - wind) * (1 - a[:, 0] ** 2)
        out = np.stack(
            [
                0.95 * v + 0.3 * drive - 0.02 * v * np.abs(heel),
                0.8 * lee + 0.1 * a[:, 0] * wind,
                0.7 * heel + 0.2 * drive * a[:, 0],
                0.9 * head + 0.25 * a[:, 1],
                0.98 * wind,
            ],
            1,
        )
        return (out + noise).astype(np.float32)

    def step(self, a):
        old = self.s
        self.s = self.advance(old, a, self.rng.normal(0, 0.03, old.shape))
        return old, self.s


class Dynamics(tf.Module):
    def __init__(self, width=448):
        super().__init__()
        g = tf.keras.initializers.GlorotUniform(seed=4)
        self.w1 = tf.Variable(g((STATE + ACTION, width)))
        self.w2 = tf.Variable(g((width, width)))
        self.w3 = tf.Variable(g((width, STATE)) * 0.3)
        self.b1 = tf.Variable(tf.zeros(width))
        self.b2 = tf.Variable(tf.zeros(width))

    def __call__(self, s, a):
        h = tf.nn.relu(tf.concat([s, a], -1) @ self.w1 + self.b1)
        h = tf.nn.relu(h @ self.w2 + self.b2)
        return s + h @ self.w3


cfg = Plan()
tf.keras.utils.set_random_seed(cfg.seed)
rng = np.random.default_rng(cfg.seed)
world = Dynamics()
opt = tf.keras.optimizers.Adam(1e-3)
opt.build(world.trainable_variables)


@tf.function
def fit_model(s, a, nxt):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(world(s, a) - nxt))
    grads = tape.gradient(loss, world.trainable_variables)
    opt.apply_gradients(zip(grads, world.trainable_variables))
    return loss


@tf.function(input_signature=[tf.TensorSpec((STATE,)), tf.TensorSpec((), tf.int32)])
def cem(start, horizon):
    mean = tf.zeros((horizon, ACTION))
    std = tf.ones((horizon, ACTION)) * 0.7
    for _ in range(cfg.refits):
        acts = tf.clip_by_value(
            mean + std * tf.random.normal((cfg.candidates, horizon, ACTION)), -1.0, 1.0
        )
        s = tf.repeat(start[None], cfg.candidates, axis=0)
        gain = tf.zeros(cfg.candidates)
        for t in tf.range(horizon):
            s = world(s, acts[:, t])
            gain += s[:, 0] - 0.1 * tf.square(s[:, 2])
        _, top = tf.math.top_k(gain, cfg.elites, sorted=False)
        best = tf.gather(acts, top)
        mean = tf.reduce_mean(best, 0)
        std = tf.math.reduce_std(best, 0) + 0.05
    return mean


fleet = Iceboat(256, rng)
S, A, N = [], [], []
for _ in range(40):
    a = rng.uniform(-1, 1, (256, ACTION)).astype(np.float32)
    old, new = fleet.step(a)
    S.append(old), A.append(a), N.append(new)
S, A, N = map(np.concatenate, (S, A, N))

for round_no, horizon in enumerate(cfg.horizons, 1):
    for _ in range(cfg.updates):
        i = rng.integers(0, len(S), cfg.batch)
        loss = fit_model(tf.constant(S[i]), tf.constant(A[i]), tf.constant(N[i]))
    boat = Iceboat(1, rng)
    trace = []
    for _ in range(6):
        plan = cem(tf.constant(boat.s[0]), tf.constant(horizon))
        for a in plan[:4].numpy():
            old, new = boat.step(a[None])
            trace.append((old, a[None], new))
    o, a, n = (np.concatenate(c).astype(np.float32) for c in zip(*trace))
    S, A, N = np.concatenate([S, o]), np.concatenate([A, a]), np.concatenate([N, n])
    cfg.speeds.append(float(n[:, 0].mean()))
    print(
        f"round {round_no}: horizon {horizon}, model mse {float(loss):.5f}, mean speed {cfg.speeds[-1]:.2f}"
    )
