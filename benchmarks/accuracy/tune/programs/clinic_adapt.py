"""Few-shot calibration of dose-response curves: every clinic has its own curve
and only ten patients to learn it from, so the start weights are meta-learned
by differentiating through the inner updates."""

import numpy as np
import tensorflow as tf

CLINICS = 24
SHOTS, QUERIES = 10, 40
HIDDEN = 96
INNER = 3
STEPS = 1400


def clinics(rng, n):
    top = rng.uniform(0.5, 3.0, (n, 1, 1))
    ec50 = rng.uniform(-1.5, 1.5, (n, 1, 1))
    slope = rng.uniform(1.0, 4.0, (n, 1, 1))
    ripple = rng.uniform(0, 0.6, (n, 1, 1))
    d = rng.uniform(-3, 3, (n, SHOTS + QUERIES, 1))
    y = top / (1 + np.exp(-slope * (d - ec50))) + ripple * np.sin(3 * d)
    y = y + rng.normal(0, 0.03, y.shape)
    d, y = d.astype("float32"), y.astype("float32")
    return d[:, :SHOTS], y[:, :SHOTS], d[:, SHOTS:], y[:, SHOTS:]


class Start(tf.Module):
    def __init__(self):
        super().__init__()
        shapes = [(1, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN, 1), (1,)]
        g = np.random.default_rng(0)
        self.p = [
            tf.Variable(
                (g.normal(0, 1, s) * (2 / s[0]) ** 0.5 if len(s) == 2 else np.zeros(s)).astype(
                    "float32"
                )
            )
            for s in shapes
        ]
        self.log_rate = tf.Variable(np.log(0.05), dtype=tf.float32)


def curve(p, x):
    """Every clinic has its own copy of the weights (leading axis)."""
    h = tf.tanh(x @ p[0] + p[1][:, None])
    h = tf.tanh(h @ p[2] + p[3][:, None])
    return h @ p[4] + p[5][:, None]


start = Start()
opt = tf.keras.optimizers.Adam(1e-3)


def adapt(xs, ys):
    fast = [tf.tile(v[None], [CLINICS] + [1] * len(v.shape)) for v in start.p]
    rate = tf.exp(start.log_rate)
    for _ in range(INNER):
        with tf.GradientTape() as inner:
            inner.watch(fast)
            miss = tf.reduce_mean((curve(fast, xs) - ys) ** 2, axis=[1, 2])
            total = tf.reduce_sum(miss)
        fast = [f - rate * g for f, g in zip(fast, inner.gradient(total, fast))]
    return fast


@tf.function
def meta_step(xs, ys, xq, yq):
    with tf.GradientTape() as outer:
        fast = adapt(xs, ys)
        loss = tf.reduce_mean((curve(fast, xq) - yq) ** 2)
    v = start.trainable_variables
    opt.apply_gradients(zip(outer.gradient(loss, v), v))
    return loss


@tf.function
def check(xs, ys, xq, yq):
    before = [tf.tile(v[None], [CLINICS] + [1] * len(v.shape)) for v in start.p]
    raw = tf.reduce_mean((curve(before, xq) - yq) ** 2)
    return raw, tf.reduce_mean((curve(adapt(xs, ys), xq) - yq) ** 2)


def main():
    rng = np.random.default_rng(4)
    held = [tf.constant(a) for a in clinics(np.random.default_rng(99), CLINICS)]
    for i in range(STEPS):
        loss = meta_step(*[tf.constant(a) for a in clinics(rng, CLINICS)])
        if i % 200 == 0:
            raw, fitted = check(*held)
            print(
                f"{i:5d} meta {float(loss):.4f} held out {float(raw):.4f} -> {float(fitted):.4f}"
                f" rate {float(tf.exp(start.log_rate)):.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
