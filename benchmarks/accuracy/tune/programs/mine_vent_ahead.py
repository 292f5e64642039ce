"""Methane forecast for a ventilated coal face, windows get longer in stages.

A small dilated conv net, own training step; horizon stays the same. Every stage ends
with a check on the held-out shift and stops early if it has become worse.
"""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

CONFIG = dict(
    sensors=8,
    horizon=6,
    batch=96,
    width=64,
    lr=2e-3,
    seed=612,
    stages=((48, 80), (96, 80), (192, 80)),
)


def mine_log(minutes, sensors, rng):
    fan = 1 + 0.3 * np.sin(np.arange(minutes) / 180.0) + 0.1 * (np.arange(minutes) // 480 % 2)
    gas = np.zeros(minutes, np.float64)
    shearer = (np.sin(np.arange(minutes) / 37.0) > 0.2).astype(float)
    noise = rng.normal(size=minutes)
    for t in range(1, minutes):
        gas[t] = 0.97 * gas[t - 1] + (0.05 + 0.12 * shearer[t - 1] + 0.02 * noise[t]) / fan[t]
    mix = rng.uniform(0.3, 1.0, sensors)
    log = gas[:, None] * mix + 0.05 * rng.normal(size=(minutes, sensors))
    log[:, 0], log[:, 1] = fan, shearer
    log = (log - log.mean(0)) / log.std(0)
    return log.astype(np.float32)


class WindowSampler:
    def __init__(self, log, horizon, rng):
        self.log, self.horizon, self.rng = log, horizon, rng

    def batch(self, length, size):
        starts = self.rng.integers(0, len(self.log) - length - self.horizon, size)
        idx = starts[:, None] + np.arange(length)
        target = self.log[starts + length + self.horizon - 1, 2:]
        return self.log[idx], target


def forecaster(cfg):
    x = inp = keras.Input((None, cfg["sensors"]))
    x = keras.layers.Conv1D(cfg["width"], 3, padding="causal")(x)
    for d in (1, 2, 4, 8, 16):
        h = keras.layers.Conv1D(
            cfg["width"], 3, padding="causal", dilation_rate=d, activation="relu"
        )(x)
        h = keras.layers.Conv1D(cfg["width"], 1)(h)
        x = keras.layers.Add()([x, h])
    x = keras.layers.GlobalAveragePooling1D()(x)
    out = keras.layers.Dense(cfg["sensors"] - 2)(keras.layers.Activation("relu")(x))
    model = keras.Model(inp, out)
    return model


def make_steps(cfg, model):
    opt = keras.optimizers.Adam(cfg["lr"], clipnorm=1.0)
    opt.build(model.trainable_variables)
    windows = tf.TensorSpec([None, None, cfg["sensors"]], tf.float32)
    targets = tf.TensorSpec([None, cfg["sensors"] - 2], tf.float32)

    @tf.function(input_signature=[windows, targets])
    def update(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        opt.apply(tape.gradient(loss, model.trainable_variables))
        return loss

    @tf.function(input_signature=[windows, targets])
    def check(x, y):
        return tf.reduce_mean(tf.square(model(x, training=False) - y))

    return update, check


def main(cfg=CONFIG):
    keras.utils.set_random_seed(cfg["seed"])
    rng = np.random.default_rng(cfg["seed"])
    log = mine_log(20000, cfg["sensors"], rng)
    train = WindowSampler(log[:16000], cfg["horizon"], rng)
    shift = WindowSampler(log[16000:], cfg["horizon"], np.random.default_rng(1))
    update, check = make_steps(cfg, forecaster(cfg))
    best = np.inf
    losses = []
    clock = time.time()
    for number, (length, updates) in enumerate(cfg["stages"]):
        for _ in range(updates):
            x, y = train.batch(length, cfg["batch"])
            losses.append(float(update(x, y)))
        vx, vy = shift.batch(length, cfg["batch"])
        val = float(check(vx, vy))
        print(
            "stage %d (window %3d): train %.4f  held-out shift %.4f"
            % (number, length, np.mean(losses[-10:]), val)
        )
        if val > 1.5 * best:
            print("got worse, stopping")
            break
        best = min(best, val)
    print("%d updates in %.2f s" % (len(losses), time.time() - clock))


if __name__ == "__main__":
    main()
