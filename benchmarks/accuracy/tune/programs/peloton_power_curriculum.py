"""Forecast a rider's power (watts) one minute ahead from the bike computer's channels.

Curriculum: first short windows of a ride, later long ones with climbs in them, so the
steps get dearer as the training goes on.
"""

from dataclasses import dataclass
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

CHANNELS = ("power", "heart", "cadence", "speed", "grade", "wind")


@dataclass
class Stage:
    seconds: int
    steps: int


@dataclass
class Config:
    rides: int = 60
    length: int = 3000
    ahead: int = 60
    batch: int = 24
    width: int = 40
    seed: int = 1903
    curriculum: tuple = (Stage(128, 60), Stage(256, 50), Stage(512, 40), Stage(768, 30))


def ride(length, rng):
    grade = np.cumsum(rng.normal(0, 0.02, length))
    grade = grade - np.convolve(grade, np.ones(301) / 301, "same")
    wind = np.cumsum(rng.normal(0, 0.03, length))
    wind -= wind.mean()
    fit = rng.uniform(0.8, 1.2)
    power = fit * (
        1.0 + 0.8 * np.maximum(grade, -0.8) + 0.2 * np.sin(np.arange(length) / 45)
    ) + 0.1 * rng.normal(size=length)
    heart = np.convolve(power, np.exp(-np.arange(120) / 30) / 30, "full")[:length]
    cadence = 0.8 + 0.1 * power + 0.05 * rng.normal(size=length)
    speed = power - 0.6 * grade - 0.2 * wind + 0.05 * rng.normal(size=length)
    return np.stack([power, heart, cadence, speed, grade, wind], 1).astype("float32")


class Windows:
    """Random windows out of the rides, gathered with one fancy index per batch."""

    def __init__(self, rides, ahead, rng):
        self.rides, self.ahead, self.rng = rides, ahead, rng

    def draw(self, batch, seconds):
        who = self.rng.integers(0, len(self.rides), batch)
        at = self.rng.integers(0, self.rides.shape[1] - seconds - self.ahead, batch)
        idx = at[:, None] + np.arange(seconds)[None]
        return self.rides[who[:, None], idx], self.rides[who[:, None], idx + self.ahead, :1]


class CausalBlock(layers.Layer):
    def __init__(self, width, dilation, **kw):
        super().__init__(**kw)
        self.a = layers.Conv1D(
            width, 5, padding="causal", dilation_rate=dilation, activation="relu"
        )
        self.b = layers.Conv1D(width, 1)
        self.norm = layers.LayerNormalization()

    def build(self, shape):
        self.a.build(shape)
        self.b.build(shape)
        self.norm.build(shape)
        self.built = True

    def call(self, x):
        return self.norm(x + self.b(self.a(x)))


def power_net(width):
    inp = keras.Input((None, len(CHANNELS)))
    x = layers.Dense(width)(inp)
    for dilation in (1, 2, 4, 8):
        x = CausalBlock(width, dilation)(x)
    return keras.Model(inp, layers.Dense(1)(x), name="power")


def make_step(model, opt):
    spec = [
        tf.TensorSpec([None, None, len(CHANNELS)], tf.float32),
        tf.TensorSpec([None, None, 1], tf.float32),
    ]

    @tf.function(input_signature=spec)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(keras.losses.huber(y, model(x, training=True)))
        grads = tape.gradient(loss, model.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss, norm

    return step


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    rides = np.stack([ride(cfg.length, rng) for _ in range(cfg.rides)])
    train = Windows(rides[6:], cfg.ahead, rng)
    test = Windows(rides[:6], cfg.ahead, np.random.default_rng(2))
    model = power_net(cfg.width)
    total = sum(s.steps for s in cfg.curriculum)
    opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, total))
    step = make_step(model, opt)
    began = time.time()
    for stage in cfg.curriculum:
        losses, norms = [], []
        t = time.time()
        for _ in range(stage.steps):
            x, y = train.draw(cfg.batch, stage.seconds)
            loss, norm = step(tf.constant(x), tf.constant(y))
            losses.append(float(loss))
            norms.append(float(norm))
        print(
            f"{stage.seconds:4d} s windows: loss {np.mean(losses[-15:]):.4f} norm {np.mean(norms):.2f} "
            f"{1000 * (time.time() - t) / stage.steps:.0f} ms/step"
        )
    print(f"trained for {time.time() - began:.1f} s")
    x, y = test.draw(24, 512)
    print("test mae", float(np.abs(model(x).numpy() - y).mean()))


if __name__ == "__main__":
    main()
