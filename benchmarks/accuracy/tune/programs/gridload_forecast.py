"""Day-ahead load forecast for a set of substations.

One global dilated-convolution model for all stations. During training the
length of the history that the model sees is varied, so that stations with a
short record can be forecast with the same weights.
"""

import argparse
import dataclasses
import logging
import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

log = logging.getLogger("gridload")
HOURS_PER_DAY = 24


@dataclasses.dataclass
class Settings:
    stations: int = 48
    hours: int = 24 * 200
    horizon: int = 24
    max_context: int = 24 * 14
    min_context: int = 24 * 4
    batch: int = 32
    width: int = 40
    steps: int = 288
    context_every: int = 16
    eval_every: int = 144
    lr: float = 1.5e-3


def simulate_load(s, rng):
    t = np.arange(s.hours)
    daily = np.sin(2 * np.pi * t / 24)[None] * rng.uniform(0.4, 1.2, (s.stations, 1))
    weekly = np.sin(2 * np.pi * t / 168)[None] * rng.uniform(0.1, 0.5, (s.stations, 1))
    season = np.cos(2 * np.pi * t / (24 * 365))[None] * rng.uniform(0.2, 0.6, (s.stations, 1))
    noise = rng.normal(0, 0.12, (s.stations, s.hours))
    for i in range(1, s.hours):
        noise[:, i] += 0.7 * noise[:, i - 1]
    load = 2.0 + daily + weekly + season + noise
    return (load - load.mean(1, keepdims=True)).astype(np.float32)


class LoadNet(keras.Model):
    def __init__(self, width, horizon, dilations=(1, 3, 9, 27)):
        super().__init__()
        self.inp = layers.Conv1D(width, 3, padding="causal")
        self.convs = [
            layers.Conv1D(width, 3, padding="causal", dilation_rate=d, activation="gelu")
            for d in dilations
        ]
        self.norms = [layers.LayerNormalization() for _ in dilations]
        self.head = layers.Dense(horizon)

    def call(self, history):
        level = tf.reduce_mean(history, axis=1, keepdims=True)
        x = self.inp((history - level)[..., tf.newaxis])
        for conv, norm in zip(self.convs, self.norms):
            x = x + conv(norm(x))
        pooled = tf.concat([x[:, -1], tf.reduce_mean(x, axis=1)], axis=-1)
        return level + self.head(pooled)


class Forecaster:
    def __init__(self, s):
        self.s = s
        self.net = LoadNet(s.width, s.horizon)
        self.net(tf.zeros((1, s.min_context)))
        self.opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(s.lr, s.steps))
        self.opt.build(self.net.trainable_variables)

    @tf.function(jit_compile=True)
    def train_step(self, series, target, context):
        history = series[:, self.s.max_context - context :]
        with tf.GradientTape() as tape:
            error = target - self.net(history)
            loss = tf.reduce_mean(tf.maximum(0.5 * error, -0.5 * error))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    @tf.function(jit_compile=True)
    def forecast(self, series):
        return self.net(series)


class WindowSampler:
    def __init__(self, load, first, last, s, seed):
        self.load, self.first, self.last, self.s = load, first, last, s
        self.rng = np.random.default_rng(seed)
        self.offsets = np.arange(s.max_context + s.horizon)

    def draw(self, batch):
        station = self.rng.integers(0, len(self.load), batch)
        start = self.rng.integers(self.first, self.last - len(self.offsets), batch)
        window = self.load[station[:, None], start[:, None] + self.offsets]
        cut = self.s.max_context
        return tf.constant(window[:, :cut]), tf.constant(window[:, cut:])


def draw_context(rng, s):
    return int(rng.integers(s.min_context, s.max_context + 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=Settings.steps)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--export")
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)7d ms  %(message)s")
    s = Settings(steps=args.steps)
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    load = simulate_load(s, rng)
    split = int(s.hours * 0.85)
    train = WindowSampler(load, 0, split, s, args.seed)
    test = WindowSampler(load, split, s.hours, s, args.seed + 1)
    val_series, val_target = test.draw(256)

    model = Forecaster(s)
    context, losses, t0 = s.max_context, [], time.time()
    for step in range(s.steps):
        if step % s.context_every == 0:
            context = draw_context(rng, s)
        series, target = train.draw(s.batch)
        losses.append(float(model.train_step(series, target, tf.constant(context))))
        if (step + 1) % 36 == 0:
            log.info(
                "step %d  pinball %.4f  context %dh  %.1fs",
                step + 1,
                np.mean(losses),
                context,
                time.time() - t0,
            )
            losses.clear()
        if (step + 1) % s.eval_every == 0:
            mae = tf.reduce_mean(tf.abs(model.forecast(val_series) - val_target))
            log.info("step %d  validation MAE %.4f", step + 1, float(mae))
    target_dir = args.export or tempfile.mkdtemp(prefix="gridload_")
    model.net.save_weights(os.path.join(target_dir, "loadnet.weights.h5"))


if __name__ == "__main__":
    main()
