"""Electric load forecasting with a shape-aware (soft-DTW) objective."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras

PAST, HORIZON, FEATURES = 48, 24, 3
BIG = 1e6


def make_series(n_sites, hours, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    load = []
    for _ in range(n_sites):
        shift, daily, weekly = rng.uniform(0, 24), rng.uniform(0.5, 1.5), rng.uniform(0.1, 0.5)
        s = daily * np.sin(2 * np.pi * (t + shift) / 24) + weekly * np.sin(2 * np.pi * t / 168)
        spikes = (rng.uniform(size=hours) < 0.02) * rng.uniform(1, 2, hours)
        load.append(s + np.convolve(spikes, [0.3, 1.0, 0.3], "same") + rng.normal(0, 0.1, hours))
    clock = np.stack([np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24)], -1)
    out = [np.concatenate([s[:, None], clock], -1) for s in load]
    return np.stack(out).astype("float32")


def windows(series, batch, seed=0):
    n_sites, hours, _ = series.shape
    rng = np.random.default_rng(seed)

    def gen():
        while True:
            site = rng.integers(0, n_sites, batch)
            start = rng.integers(0, hours - PAST - HORIZON, batch)
            idx = start[:, None] + np.arange(PAST + HORIZON)
            block = series[site[:, None], idx]
            yield block[:, :PAST], block[:, PAST:, 0]

    sig = (tf.TensorSpec((batch, PAST, FEATURES)), tf.TensorSpec((batch, HORIZON)))
    return tf.data.Dataset.from_generator(gen, output_signature=sig).prefetch(4)


def soft_min(a, b, c, gamma):
    return -gamma * tf.reduce_logsumexp(tf.stack([a, b, c], 0) / -gamma, axis=0)


def soft_dtw(pred, true, gamma=0.1):
    """Alignment cost; anti-diagonal k needs the two diagonals before it."""
    n = HORIZON
    cost = tf.square(pred[:, :, None] - true[:, None, :])
    rows = tf.range(n)
    cols = tf.range(2 * n - 1)[:, None] - rows[None, :]
    valid = (cols >= 0) & (cols < n)
    safe = tf.clip_by_value(cols, 0, n - 1)
    skewed = tf.gather_nd(
        cost,
        tf.stack([tf.broadcast_to(rows[None, :], tf.shape(safe)), safe], -1)[None]
        + tf.zeros((tf.shape(pred)[0], 1, 1, 1), tf.int32),
        batch_dims=1,
    )
    skewed = tf.transpose(skewed, (1, 0, 2))
    batch = tf.shape(pred)[0]
    edge = tf.fill((batch, 1), BIG)

    def body(k, prev, prev2):
        up = tf.concat([edge, prev[:, :-1]], 1)
        diag = tf.concat([edge, prev2[:, :-1]], 1)
        best = soft_min(prev, up, diag, gamma)
        cur = tf.where(valid[k][None, :], skewed[k] + best, BIG)
        return k + 1, cur, prev

    start = tf.concat([skewed[0][:, :1], tf.fill((batch, n - 1), BIG)], 1)
    _, last, _ = tf.while_loop(
        lambda k, *_: k < 2 * n - 1,
        body,
        (tf.constant(1), start, tf.fill((batch, n), BIG)),
        maximum_iterations=2 * n - 2,
    )
    return tf.reduce_mean(last[:, -1])


class Forecaster(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.enc = keras.layers.GRU(units)
        self.hidden = keras.layers.Dense(units, activation="relu")
        self.out = keras.layers.Dense(HORIZON)

    def call(self, x):
        return self.out(self.hidden(self.enc(x))) + x[:, -HORIZON:, 0]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=1100)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--units", type=int, default=64)
    p.add_argument("--mix", type=float, default=0.7, help="weight of the alignment term")
    args = p.parse_args()

    keras.utils.set_random_seed(5)
    series = make_series(20, 24 * 7 * 12)
    train = iter(windows(series[:16], args.batch))
    vx, vy = next(iter(windows(series[16:], 256, seed=1)))
    model = Forecaster(args.units)
    model(vx)
    opt = keras.optimizers.Adam(2e-3)
    opt.build(model.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            pred = model(x)
            shape = soft_dtw(pred, y) / HORIZON
            loss = args.mix * shape + (1 - args.mix) * tf.reduce_mean(tf.square(pred - y))
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def validate(x, y):
        pred = model(x)
        return soft_dtw(pred, y) / HORIZON, tf.reduce_mean(tf.square(pred - y))

    for i in range(1, args.steps + 1):
        loss = step(*next(train))
        if i % 110 == 0:
            dtw, mse = validate(vx, vy)
            print(
                f"step {i} loss {float(loss):.4f} val dtw {float(dtw):.4f} val mse {float(mse):.4f}"
            )


if __name__ == "__main__":
    main()
