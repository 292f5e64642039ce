"""Momentum-contrast pretraining of a 1-D encoder on windows of accelerometer signals."""

import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    window: int = 96
    channels: int = 3
    dim: int = 64
    batch: int = 96
    queue_size: int = 2048
    steps: int = 850
    temperature: float = 0.1
    momentum: float = 0.99
    lr: float = 0.03


cfg = Config()


def make_recordings(n_subjects=40, length=4000, seed=2):
    rng = np.random.default_rng(seed)
    t = np.arange(length) / 50.0
    recs = []
    for _ in range(n_subjects):
        gait = rng.uniform(0.8, 2.5)
        amp = rng.uniform(0.3, 1.5, cfg.channels)
        ph = rng.uniform(0, 2 * np.pi, cfg.channels)
        sig = amp * np.sin(2 * np.pi * gait * t[:, None] + ph) + 0.3 * np.sin(
            4 * np.pi * gait * t[:, None]
        )
        recs.append(sig + rng.normal(0, 0.2, sig.shape))
    return np.stack(recs).astype("float32")


def window_pairs(recs):
    recs = tf.constant(recs)
    n, length = recs.shape[0], recs.shape[1]

    def draw(_):
        who = tf.random.uniform([], 0, n, tf.int32)
        start = tf.random.uniform([], 0, length - cfg.window - 16, tf.int32)
        lag = tf.random.uniform([], 0, 16, tf.int32)
        a = recs[who, start : start + cfg.window]
        b = recs[who, start + lag : start + lag + cfg.window]
        return tf.ensure_shape(a, (cfg.window, cfg.channels)), tf.ensure_shape(
            b, (cfg.window, cfg.channels)
        )

    ds = tf.data.Dataset.range(1 << 40).map(draw, num_parallel_calls=2)
    return ds.batch(cfg.batch, drop_remainder=True).prefetch(4)


def encoder():
    return tf.keras.Sequential(
        [
            tf.keras.Input((cfg.window, cfg.channels)),
            tf.keras.layers.Conv1D(32, 7, strides=2, activation="relu"),
            tf.keras.layers.Conv1D(64, 5, strides=2, activation="relu"),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(cfg.dim),
        ]
    )


class MoCo(tf.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key = encoder(), encoder()
        self.key.set_weights(self.query.get_weights())
        self.opt = tf.keras.optimizers.SGD(cfg.lr, momentum=0.9)
        self.opt.build(self.query.trainable_variables)
        first = tf.math.l2_normalize(tf.random.normal((cfg.batch, cfg.dim)), -1)
        self.queue = tf.Variable(first, trainable=False, shape=tf.TensorShape([None, cfg.dim]))
        self.filled = cfg.batch

    def enqueue(self, keys):
        rows = tf.concat([keys, self.queue], axis=0)
        self.filled += keys.shape[0]
        if self.filled > cfg.queue_size:
            rows = rows[: cfg.queue_size]
            self.filled = cfg.queue_size
        self.queue.assign(rows)

    @tf.function
    def step(self, a, b):
        k = tf.math.l2_normalize(self.key(a + 0.05 * tf.random.normal(tf.shape(a))), -1)
        with tf.GradientTape() as tape:
            q = tf.math.l2_normalize(self.query(b, training=True), -1)
            pos = tf.reduce_sum(q * k, -1, keepdims=True)
            neg = tf.matmul(q, self.queue, transpose_b=True)
            logits = tf.concat([pos, neg], 1) / cfg.temperature
            target = tf.zeros(cfg.batch, tf.int32)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits))
        grads = tape.gradient(loss, self.query.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.query.trainable_variables))
        for trailing, live in zip(self.key.variables, self.query.variables):
            trailing.assign(cfg.momentum * trailing + (1 - cfg.momentum) * live)
        self.enqueue(k)
        return loss


def main():
    tf.random.set_seed(1)
    data = iter(window_pairs(make_recordings()))
    moco = MoCo()
    began = time.time()
    for i in range(1, cfg.steps + 1):
        a, b = next(data)
        loss = moco.step(a, b)
        if i % 100 == 0:
            print(f"{i:4d} loss {float(loss):.3f} elapsed {time.time() - began:.1f}s")
    norms = np.linalg.norm(moco.query.get_weights()[-2])
    print("projection norm", round(float(norms), 3))


if __name__ == "__main__":
    main()
