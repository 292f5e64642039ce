"""Forecast the level of mountain reservoirs with a gated recurrent net."""

import math

import numpy as np
import tensorflow as tf

LAKES = 300
DAYS = 2000
INPUTS = 10
HIDDEN = 96
BATCH = 48
STAGES = [(24, 420), (48, 300), (96, 220)]  # days per window, steps


def catchments(seed):
    rng = np.random.default_rng(seed)
    season = np.sin(2 * np.pi * np.arange(DAYS) / 365.0)
    rain = rng.gamma(0.6, 1.0, (LAKES, DAYS)) * (1.2 + season)
    melt = np.clip(np.roll(season, 90), 0, None) * rng.uniform(0.5, 2.0, (LAKES, 1))
    level = np.zeros((LAKES, DAYS))
    for d in range(1, DAYS):
        level[:, d] = 0.985 * level[:, d - 1] + 0.02 * rain[:, d - 1] + 0.015 * melt[:, d]
    other = rng.normal(size=(LAKES, DAYS, INPUTS - 3))
    x = np.concatenate([rain[..., None], melt[..., None], level[..., None], other], -1)
    x = (x - x.mean((0, 1))) / (x.std((0, 1)) + 1e-6)
    return x.astype(np.float32)


class Gru(tf.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        s = 1 / math.sqrt(hidden)
        self.wx = tf.Variable(tf.random.normal([inputs, 3 * hidden], stddev=1 / math.sqrt(inputs)))
        self.wh = tf.Variable(tf.random.normal([hidden, 2 * hidden], stddev=s))
        self.wc = tf.Variable(tf.random.normal([hidden, hidden], stddev=s))
        self.b = tf.Variable(tf.zeros([3 * hidden]))

    def __call__(self, x):
        pre = tf.transpose(tf.matmul(x, self.wx) + self.b, [1, 0, 2])

        def cell(h, p):
            gates = tf.sigmoid(p[:, : 2 * self.hidden] + tf.matmul(h, self.wh))
            r, z = tf.split(gates, 2, axis=-1)
            c = tf.tanh(p[:, 2 * self.hidden :] + tf.matmul(r * h, self.wc))
            return z * h + (1 - z) * c

        start = tf.zeros([tf.shape(x)[0], self.hidden])
        return tf.transpose(tf.scan(cell, pre, start), [1, 0, 2])


class Forecaster(tf.Module):
    def __init__(self):
        super().__init__()
        self.below = Gru(INPUTS, HIDDEN)
        self.above = Gru(HIDDEN, HIDDEN)
        self.out = tf.Variable(tf.random.normal([HIDDEN, 1], stddev=0.1))

    def __call__(self, x):
        return tf.matmul(self.above(self.below(x)), self.out)[..., 0]


class Momentum(tf.Module):
    def __init__(self, variables, rate):
        super().__init__()
        self.v = variables
        self.s = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.rate = tf.Variable(rate)

    def apply(self, grads):
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        for v, s, g in zip(self.v, self.s, grads):
            s.assign(0.9 * s + g)
            v.assign_sub(self.rate * s)
        return norm


def windows(x, days, rng):
    lake = rng.integers(0, LAKES, BATCH)
    start = rng.integers(0, DAYS - days - 1, BATCH)
    rows = start[:, None] + np.arange(days + 1)
    w = x[lake[:, None], rows]
    return w[:, :-1], w[:, 1:, 2]


def main():
    tf.random.set_seed(5)
    rng = np.random.default_rng(5)
    x = catchments(5)
    net = Forecaster()
    momentum = Momentum(net.trainable_variables, 0.05)

    @tf.function(reduce_retracing=True)
    def step(a, b):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(a) - b))
        norm = momentum.apply(tape.gradient(loss, momentum.v))
        return loss, norm

    done = 0
    for days, steps in STAGES:
        losses = []
        for _ in range(steps):
            a, b = windows(x, days, rng)
            loss, norm = step(tf.constant(a), tf.constant(b))
            losses.append(float(loss))
            done += 1
            if done % 50 == 0:
                print(
                    f"step {done} window {days}: loss {np.mean(losses[-50:]):.4f} norm {float(norm):.3f}",
                    flush=True,
                )
        momentum.rate.assign(momentum.rate * 0.6)


if __name__ == "__main__":
    main()
