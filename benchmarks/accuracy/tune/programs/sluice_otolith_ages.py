"""Age of fish from ring profiles of their otoliths: Keras fit, own callbacks for averaging and archive."""

import argparse
import csv
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

LENGTH = 192


def otoliths(n, seed):
    """Ring brightness from the core to the edge; growth slows with age."""
    rng = np.random.default_rng(seed)
    age = rng.integers(1, 13, n)
    r = np.linspace(0, 1, LENGTH)
    x = np.empty((n, LENGTH, 1), "float32")
    for i, a in enumerate(age):
        phase = (a + 0.5) * (1 - np.exp(-2.2 * r)) / (1 - np.exp(-2.2))
        x[i, :, 0] = np.sin(2 * np.pi * phase + 0.3 * rng.normal()) * (0.6 + 0.4 * rng.random())
    x += 0.3 * rng.normal(size=x.shape)
    return x.astype("float32"), age.astype("float32")


def block(h, width, rate):
    skip = layers.Conv1D(width, 1)(h) if h.shape[-1] != width else h
    h = layers.Conv1D(width, 5, padding="same", dilation_rate=rate, activation="relu")(h)
    h = layers.Conv1D(width, 5, padding="same")(h)
    return layers.Activation("relu")(layers.Add()([h, skip]))


def build(lr):
    inp = keras.Input((LENGTH, 1))
    h = layers.Conv1D(48, 7, strides=2, padding="same", activation="relu")(inp)
    for width, rate in ((48, 1), (64, 2), (64, 4)):
        h = block(h, width, rate)
    h = layers.Flatten()(layers.AveragePooling1D(4)(h))
    h = layers.Dense(1024, activation="relu")(h)
    h = layers.Dense(256, activation="relu")(h)
    model = keras.Model(inp, layers.Dense(1)(h), name="otolith")
    model.compile(keras.optimizers.Adam(lr), "huber", metrics=["mae"])
    return model


class TailMean(keras.callbacks.Callback):
    """Stochastic weight averaging: the mean of the weights since `start`, kept ready at any time."""

    def __init__(self, start):
        super().__init__()
        self.start = start
        self.seen = 0
        self.points = []
        self.mean = None

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.seen < self.start or self.seen % 2:
            return
        self.points.append([tf.identity(v) for v in self.model.trainable_variables])
        self.mean = [tf.add_n(list(vs)) / len(vs) for vs in zip(*self.points)]

    def on_train_end(self, logs=None):
        for v, m in zip(self.model.trainable_variables, self.mean):
            v.assign(m)


class Archive(keras.callbacks.Callback):
    """A copy of the model for the laboratory whenever the running loss is better than before."""

    def __init__(self, folder, patience=3):
        super().__init__()
        self.folder, self.patience = folder, patience
        self.best, self.since = np.inf, 0
        self.kept = 0

    def on_train_batch_end(self, batch, logs=None):
        self.since += 1
        if logs["loss"] < self.best and self.since >= self.patience:
            self.best, self.since = logs["loss"], 0
            self.model.save(os.path.join(self.folder, "best.keras"))
            self.kept += 1


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--fish", type=int, default=1500)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=7)
    ap.add_argument("--average-from", type=int, default=60)
    args = ap.parse_args()
    keras.utils.set_random_seed(64)
    x, age = otoliths(args.fish, seed=65)
    cut = int(0.85 * args.fish)
    folder = tempfile.mkdtemp(prefix="otolith_")
    ds = (
        tf.data.Dataset.from_tensor_slices((x[:cut], age[:cut]))
        .cache()
        .shuffle(cut, seed=66)
        .batch(args.batch, drop_remainder=True)
        .prefetch(2)
    )
    steps = cut // args.batch
    model = build(keras.optimizers.schedules.CosineDecay(1.2e-3, steps * args.epochs, alpha=0.1))
    tail, archive = TailMean(args.average_from), Archive(folder)
    history = model.fit(
        ds,
        validation_data=(x[cut:], age[cut:]),
        validation_freq=2,
        epochs=args.epochs,
        callbacks=[tail, archive],
        verbose=2,
    )
    with open(os.path.join(folder, "history.csv"), "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerows(zip(history.history["loss"], history.history["mae"]))
    loss, mae = model.evaluate(x[cut:], age[cut:], verbose=0)
    print(
        f"averaged model: {mae:.2f} years off on {len(x) - cut} fish; {archive.kept} archive copies"
    )


if __name__ == "__main__":
    main()
