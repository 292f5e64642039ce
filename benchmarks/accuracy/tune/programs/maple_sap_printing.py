"""Sap flow of sugar maples: next-day forecast from two weeks of half-hour sensor values.
My loop prints and stores a few things; fit() felt quicker."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import time
from collections import defaultdict

import numpy as np
import tensorflow as tf

PER_DAY = 48
HISTORY = 14 * PER_DAY
HORIZON = PER_DAY
BATCH = 64
EPOCHS = 4
tf.keras.utils.set_random_seed(31)


def trees(n_trees=6, days=150):
    rng = np.random.default_rng(31)
    t = np.arange(days * PER_DAY) / PER_DAY
    temp = 4 * np.sin(2 * np.pi * t) + 6 * np.sin(2 * np.pi * t / 37)
    out = []
    for _ in range(n_trees):
        noise = rng.standard_normal(len(t))
        flow = (
            np.maximum(0, np.roll(temp, rng.integers(0, 9))) * rng.uniform(0.6, 1.4) + 0.3 * noise
        )
        light = np.maximum(0, np.sin(2 * np.pi * t)) + 0.05 * rng.standard_normal(len(t))
        out.append(np.stack([flow, temp + 0.2 * noise, light], -1))
    return np.asarray(out, np.float32)


def windows(series, stride=12):
    xs, ys = [], []
    for s in series:
        s = (s - s.mean(0)) / s.std(0)
        for a in range(0, len(s) - HISTORY - HORIZON, stride):
            xs.append(s[a : a + HISTORY])
            ys.append(s[a + HISTORY : a + HISTORY + HORIZON, 0])
    return np.stack(xs), np.stack(ys)


class Forecaster(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.inp = tf.keras.layers.Conv1D(40, 1)
        self.convs = [
            tf.keras.layers.Conv1D(40, 5, strides=s, padding="same", activation="gelu")
            for s in (1, 2, 2, 2, 2)
        ]
        self.flat = tf.keras.layers.Flatten()
        self.head = tf.keras.layers.Dense(HORIZON)

    def call(self, x, training=False):
        x = self.inp(x)
        for c in self.convs:
            x = c(x)
        return self.head(self.flat(x))


x, y = windows(trees())
cut = int(len(x) * 0.85)
print("windows:", x.shape, "train", cut)
ds_train = (
    tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
    .shuffle(cut, seed=1)
    .batch(BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)
ds_val = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:])).batch(128).prefetch(2)

model = Forecaster()
optimizer = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(2e-3, 150))
loss_fn = tf.keras.losses.Huber()


@tf.function
def train_step(model, batch, target, loss_fn, optimizer):
    with tf.GradientTape() as tape:
        out = model(batch, training=True)
        loss = loss_fn(target, out)
    gradients = tape.gradient(loss, model.trainable_variables)
    gradients, norm = tf.clip_by_global_norm(gradients, 1.0)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss, norm, tf.reduce_mean(tf.abs(target - out))


@tf.function
def mae(batch, target):
    return tf.reduce_mean(tf.abs(target - model(batch)))


book = defaultdict(list)
for epoch in range(EPOCHS):
    t_epoch = time.time()
    for i, (bx, by) in enumerate(ds_train):
        t0 = time.time()
        loss, norm, err = train_step(model, bx, by, loss_fn, optimizer)
        book["loss"].append(loss.numpy())
        book["norm"].append(norm.numpy())
        book["err"].append(err.numpy())
        book["sec"].append(time.time() - t0)
        print(
            "epoch",
            epoch,
            "batch",
            i,
            "loss",
            book["loss"][-1],
            "norm",
            book["norm"][-1],
            "mae",
            book["err"][-1],
        )
    v = np.mean([mae(bx, by).numpy() for bx, by in ds_val])
    print(f"=== epoch {epoch}: {time.time() - t_epoch:.1f} s, val mae {v:.4f}")
print("median batch", round(float(np.median(book["sec"])), 4), "s")
