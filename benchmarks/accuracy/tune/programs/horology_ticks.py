"""Escapement wear from watch ticks: a GRU on windows that get longer in three stages."""

import argparse
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass(frozen=True)
class Stage:
    length: int
    steps: int
    lr: float


STAGES = (Stage(24, 60, 3e-3), Stage(48, 45, 2e-3), Stage(96, 25, 1e-3))
CHANNELS = 6
SEED = 1657


def tick_traces(n, length, seed):
    rng = np.random.default_rng(seed)
    wear = rng.uniform(0, 1, n)
    k = np.arange(length)
    base = np.sin(
        2 * np.pi * k[None] * (0.11 + 0.05 * wear[:, None]) + rng.uniform(0, 6.28, (n, 1))
    )
    x = np.stack(
        [
            base * rng.uniform(0.6, 1.4, (n, 1))
            + rng.normal(0, 0.3 + 0.2 * c / CHANNELS, base.shape)
            for c in range(CHANNELS)
        ],
        axis=-1,
    )
    x[..., -1] += wear[:, None] * 0.3 * np.sign(base)
    return x.astype("float32"), wear.astype("float32")


class WearNet(tf.keras.Model):
    def __init__(self, units=192):
        super().__init__()
        self.inlet = tf.keras.layers.Conv1D(64, 3, padding="same", activation="relu")
        self.rnn = tf.keras.layers.GRU(units, return_sequences=True)
        self.score = tf.keras.layers.Dense(1)
        self.out = tf.keras.layers.Dense(1, activation="sigmoid")

    def call(self, x, training=False):
        h = self.rnn(self.inlet(x))
        w = tf.nn.softmax(self.score(h), axis=1)
        return self.out(tf.reduce_sum(w * h, axis=1))[:, 0]


def window_stream(x, wear, length, batch):
    def cut(trace, target):
        start = tf.random.uniform((), 0, x.shape[1] - length + 1, tf.int32, seed=SEED)
        return trace[start : start + length], target

    ds = tf.data.Dataset.from_tensor_slices((x, wear)).shuffle(len(x), seed=SEED).repeat()
    return ds.map(cut, num_parallel_calls=1).batch(batch, drop_remainder=True).prefetch(4)


def make_step(net, opt):
    spec = [tf.TensorSpec((None, None, CHANNELS), tf.float32), tf.TensorSpec((None,), tf.float32)]

    @tf.function(input_signature=spec)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(x, training=True) - y))
        grads = tape.gradient(loss, net.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss, norm

    return step


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", type=int, default=192)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(SEED)
    x, wear = tick_traces(2400, 160, SEED)
    vx, vw = tick_traces(256, 96, SEED + 1)
    net = WearNet()
    net(tf.zeros((1, 24, CHANNELS)))
    opt = tf.keras.optimizers.Adam(STAGES[0].lr)
    opt.build(net.trainable_variables)
    step = make_step(net, opt)
    guess = tf.function(net)
    vx = tf.constant(vx)
    t0 = time.time()
    for number, stage in enumerate(STAGES):
        opt.learning_rate.assign(stage.lr)
        losses, norms = [], []
        for bx, by in window_stream(x, wear, stage.length, args.batch).take(stage.steps):
            loss, norm = step(bx, by)
            losses.append(float(loss))
            norms.append(float(norm))
        err = float(tf.reduce_mean(tf.abs(guess(vx) - vw)))
        print(
            f"stage {number} length {stage.length}: loss {np.mean(losses[-20:]):.4f} "
            f"grad {np.median(norms):.3f} val mae {err:.3f}  t={time.time() - t0:.1f}s",
            flush=True,
        )
    print(f"training {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
