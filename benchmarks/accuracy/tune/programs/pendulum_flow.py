"""Neural ODE of a damped double-well oscillator pair, trained on ever longer stretches."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import time

import numpy as np
import tensorflow as tf

DT = 0.08
STATE = 4
HIDDEN = 80
BATCH = 192
# (horizon in solver steps, updates, learning rate)
STAGES = [(4, 220, 3e-3), (8, 180, 2e-3), (16, 140, 2e-3), (32, 100, 1e-3), (48, 60, 7e-4)]


def true_field(s):
    q1, p1, q2, p2 = s.T
    return np.stack(
        [
            p1,
            q1 - q1**3 - 0.15 * p1 + 0.3 * (q2 - q1),
            p2,
            -np.sin(2 * q2) - 0.1 * p2 + 0.3 * (q1 - q2),
        ],
        1,
    )


def rk4_numpy(s, steps, inner=4):
    out, h = [s], DT / inner
    for _ in range(steps):
        for _ in range(inner):
            k1 = true_field(s)
            k2 = true_field(s + 0.5 * h * k1)
            k3 = true_field(s + 0.5 * h * k2)
            k4 = true_field(s + h * k3)
            s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(s)
    return np.stack(out)


class Field(tf.Module):
    def __init__(self, seed):
        super().__init__()
        g = tf.random.Generator.from_seed(seed)
        sizes = [STATE, HIDDEN, HIDDEN, STATE]
        self.w = [tf.Variable(g.normal([a, b]) * a**-0.5) for a, b in zip(sizes, sizes[1:])]
        self.b = [tf.Variable(tf.zeros([b])) for b in sizes[1:]]

    def __call__(self, s):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            s = tf.nn.silu(s @ w + b)
        return s @ self.w[-1] + self.b[-1]


field = Field(2)
weights = list(field.trainable_variables)
slots_m = [tf.Variable(tf.zeros_like(w)) for w in weights]
slots_v = [tf.Variable(tf.zeros_like(w)) for w in weights]
count = tf.Variable(0.0)


def rk4(s):
    k1 = field(s)
    k2 = field(s + 0.5 * DT * k1)
    k3 = field(s + 0.5 * DT * k2)
    k4 = field(s + DT * k3)
    return s + DT / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def rollout_error(path):
    """Mean squared error along the path; path is [time, batch, state]."""
    horizon = tf.shape(path)[0] - 1

    def body(i, s, err):
        s = rk4(s)
        return i + 1, s, err + tf.reduce_mean(tf.square(s - path[i + 1]))

    _, _, err = tf.while_loop(
        lambda i, s, err: i < horizon, body, (tf.constant(0), path[0], tf.constant(0.0))
    )
    return err / tf.cast(horizon, tf.float32)


@tf.function(input_signature=[tf.TensorSpec([None, None, STATE]), tf.TensorSpec([])])
def update(path, rate):
    with tf.GradientTape() as tape:
        loss = rollout_error(path)
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, weights), 1.0)
    count.assign_add(1.0)
    for w, g, m, v in zip(weights, grads, slots_m, slots_v):
        m.assign(0.9 * m + 0.1 * g)
        v.assign(0.999 * v + 0.001 * g * g)
        step = m / (1 - 0.9**count) / (tf.sqrt(v / (1 - 0.999**count)) + 1e-8)
        w.assign_sub(rate * step)
    return loss


@tf.function(input_signature=[tf.TensorSpec([None, None, STATE])])
def evaluate(path):
    return rollout_error(path)


def main():
    rng = np.random.default_rng(6)
    longest = STAGES[-1][0]
    paths = rk4_numpy(rng.normal(0, 1.2, (1500, STATE)), 120).astype(np.float32)
    held = tf.constant(rk4_numpy(rng.normal(0, 1.2, (200, STATE)), longest).astype(np.float32))
    print(f"{paths.shape[1]} paths of {paths.shape[0]} points")
    for horizon, updates, rate in STAGES:
        began, losses = time.perf_counter(), []
        for _ in range(updates):
            who = rng.integers(0, paths.shape[1], BATCH)
            start = rng.integers(0, paths.shape[0] - horizon)
            losses.append(update(paths[start : start + horizon + 1, who], rate))
        print(
            f"horizon {horizon:3d}: loss {np.mean(losses[:20]):.5f} -> {np.mean(losses[-20:]):.5f}"
            f"   held-out ({longest} steps) {float(evaluate(held)):.5f}"
            f"   {time.perf_counter() - began:.1f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
