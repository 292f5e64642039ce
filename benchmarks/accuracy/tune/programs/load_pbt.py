"""Population-based training of small load forecasters (electricity-like series)."""

import time
from collections import namedtuple

import numpy as np
import tensorflow as tf

Member = namedtuple("Member", "name weights moments hyper record")
WINDOW, AHEAD, WIDTH = 72, 12, 160
POPULATION, GENERATIONS, STEPS, BATCH = 6, 10, 50, 256


def load_series(n, rng):
    t = np.arange(n)
    daily = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24 + 1.0)
    weekly = 0.6 * np.cos(2 * np.pi * t / 168)
    drift = np.cumsum(rng.normal(0, 0.02, n))
    y = daily * (1 + 0.3 * weekly) + weekly + drift - drift.mean() + rng.normal(0, 0.15, n)
    return ((y - y.mean()) / y.std()).astype("float32")


def windows(series):
    view = np.lib.stride_tricks.sliding_window_view(series, WINDOW + AHEAD)
    return tf.constant(view[:, :WINDOW]), tf.constant(view[:, WINDOW:])


def new_member(k, rng):
    shapes = [
        (WINDOW, WIDTH),
        (WIDTH,),
        (WIDTH, WIDTH),
        (WIDTH,),
        (WIDTH, WIDTH),
        (WIDTH,),
        (WIDTH, AHEAD),
        (AHEAD,),
    ]
    weights = tuple(
        tf.Variable(
            (rng.normal(size=s) * np.sqrt(1.6 / s[0]) if len(s) == 2 else np.zeros(s)).astype(
                "float32"
            )
        )
        for s in shapes
    )
    moments = tuple(tf.Variable(tf.zeros(s)) for s in shapes)
    hyper = {
        "lr": 10 ** rng.uniform(-3.5, -0.8),
        "momentum": rng.uniform(0.5, 0.95),
        "dropout": rng.uniform(0.0, 0.4),
    }
    return Member(f"m{k}", weights, moments, hyper, [])


def forward(w, x, drop):
    h = x - x[:, -1:]
    for k in (0, 2, 4):
        h = tf.nn.elu(tf.matmul(h, w[k]) + w[k + 1])
        keep = tf.cast(tf.random.uniform(tf.shape(h)) >= drop, tf.float32)
        h = h * keep / (1.0 - drop)
    return tf.matmul(h, w[6]) + w[7] + x[:, -1:]


@tf.function
def live(weights, moments, x_all, y_all, steps, lr, momentum, drop):
    """One member's turn: `steps` minibatches of momentum SGD."""
    total = 0.0
    count = tf.shape(x_all)[0]
    for _ in tf.range(steps):
        pick = tf.random.uniform([BATCH], 0, count, tf.int32)
        x, y = tf.gather(x_all, pick), tf.gather(y_all, pick)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(weights)
            loss = tf.reduce_mean(tf.square(forward(weights, x, drop) - y))
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, weights), 1.0)
        for w, m, g in zip(weights, moments, grads):
            m.assign(momentum * m - lr * g)
            w.assign_add(m)
        total += loss
    return total / tf.cast(steps, tf.float32)


@tf.function
def judge(weights, x, y):
    return tf.reduce_mean(tf.square(forward(weights, x, tf.constant(0.0)) - y))


def exploit(loser, winner, rng):
    for a, b in zip(loser.weights + loser.moments, winner.weights + winner.moments):
        a.assign(b)
    loser.hyper.update(winner.hyper)
    loser.hyper["lr"] *= rng.choice([0.7, 1.4])
    loser.hyper["momentum"] = float(np.clip(loser.hyper["momentum"] + rng.normal(0, 0.05), 0, 0.97))
    loser.hyper["dropout"] = float(np.clip(loser.hyper["dropout"] + rng.normal(0, 0.05), 0, 0.6))


def main():
    rng = np.random.default_rng(17)
    tf.random.set_seed(17)
    series = load_series(20000, rng)
    x, y = windows(series[:16000])
    xv, yv = windows(series[16000:])
    population = [new_member(k, rng) for k in range(POPULATION)]
    for generation in range(GENERATIONS):
        began = time.perf_counter()
        steps = tf.constant(STEPS * (1 + generation // 2))
        for m in population:
            h = [tf.constant(m.hyper[k], tf.float32) for k in ("lr", "momentum", "dropout")]
            fit = live(m.weights, m.moments, x, y, steps, *h)
            m.record.append((float(fit), float(judge(m.weights, xv, yv))))
        ranked = sorted(population, key=lambda m: m.record[-1][1])
        print(
            f"gen {generation:2d}  best {ranked[0].name} val {ranked[0].record[-1][1]:.4f}  "
            f"median train {np.median([m.record[-1][0] for m in population]):.4f}  "
            f"lr* {ranked[0].hyper['lr']:.4f}  {time.perf_counter() - began:.2f}s",
            flush=True,
        )
        for loser, winner in zip(ranked[-2:], ranked[:2]):
            exploit(loser, winner, rng)
            print(
                f"        {loser.name} <- {winner.name}  "
                + " ".join(f"{k}={v:.4f}" for k, v in loser.hyper.items())
            )


if __name__ == "__main__":
    main()
