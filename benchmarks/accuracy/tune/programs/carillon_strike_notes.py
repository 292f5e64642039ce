"""Which bells of a carillon are sounding?  Multi-label tagging of short spectra with Keras fit."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

BELLS = 23
BINS = 256
FRAMES = 24


def strike(rng, bells, n=FRAMES):
    """Decaying partials of each bell on a log-frequency axis."""
    t = np.arange(n)[:, None]
    grid = np.arange(BINS)[None, :]
    spec = np.zeros((n, BINS), "float32")
    for b in bells:
        base = 20 + 6.5 * b
        for partial, weight in ((0, 1.0), (12, 0.6), (19, 0.5), (31, 0.35), (43, 0.2)):
            spec += (
                weight
                * np.exp(-t / (6 + rng.random() * 8))
                * np.exp(-(((grid - base - partial) / 1.3) ** 2))
            )
    return spec


def make_recordings(n, seed):
    rng = np.random.default_rng(seed)
    x = np.empty((n, FRAMES, BINS), "float32")
    y = np.zeros((n, BELLS), "float32")
    for i in range(n):
        bells = rng.choice(BELLS, size=rng.integers(1, 4), replace=False)
        x[i] = strike(rng, bells) + 0.08 * rng.normal(size=(FRAMES, BINS))
        y[i, bells] = 1
    return x, y


def whiten(spec):
    """Median background per bin and local contrast, as in the archive's own tool."""
    floor = np.median(spec, axis=0, keepdims=True)
    flat = spec - floor
    pad = np.pad(flat, ((0, 0), (4, 4)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(pad, 9, axis=1)
    low, high = np.percentile(windows, [25, 75], axis=-1)
    spread = high - low
    return (flat / (spread + 0.05)).astype("float32")


def whiten_op(spec, label):
    out = tf.numpy_function(whiten, [spec], tf.float32)
    return tf.ensure_shape(out, (FRAMES, BINS)), label


def jitter(spec, label):
    shift = tf.random.uniform((), -1, 2, tf.int32)
    gain = tf.random.uniform((), 0.8, 1.2)
    return tf.roll(spec, shift, axis=1) * gain, label


def pipeline(x, y, batch, train):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if train:
        ds = ds.shuffle(len(x), seed=3)
    ds = ds.map(whiten_op, num_parallel_calls=tf.data.AUTOTUNE)
    if train:
        ds = ds.map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


class BellReport(keras.callbacks.Callback):
    """Recall of every bell on the held-out strikes, for the carillonneur."""

    def __init__(self, x, y, every, path):
        super().__init__()
        self.x, self.y = x, y
        self.every, self.path = every, path
        self.history = []

    def recalls(self):
        probs = self.model(self.x, training=False).numpy()
        hit = ((probs > 0.5) & (self.y > 0)).sum(0)
        return hit / np.maximum(self.y.sum(0), 1)

    def on_train_batch_end(self, batch, logs=None):
        if self.params["epoch_now"] >= 3 and batch % self.every == 0:
            self.history.append(self.recalls())

    def on_epoch_begin(self, epoch, logs=None):
        self.params["epoch_now"] = epoch

    def on_epoch_end(self, epoch, logs=None):
        with open(self.path, "a") as f:
            f.write(",".join(f"{r:.3f}" for r in self.recalls()) + "\n")


def build(lr):
    inp = keras.Input((FRAMES, BINS))
    h = keras.layers.Conv1D(96, 3, padding="same", activation="relu")(inp)
    h = keras.layers.Conv1D(96, 3, strides=2, padding="same", activation="relu")(h)
    h = keras.layers.GlobalMaxPooling1D()(h)
    h = keras.layers.Dropout(0.2)(h)
    out = keras.layers.Dense(BELLS, activation="sigmoid")(h)
    model = keras.Model(inp, out)
    model.compile(
        keras.optimizers.Adam(lr),
        "binary_crossentropy",
        metrics=[keras.metrics.AUC(multi_label=True, num_labels=BELLS, name="auc")],
    )
    return model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--strikes", type=int, default=1000)
    ap.add_argument("--epochs", type=int, default=9)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--report-every", type=int, default=1)
    args = ap.parse_args()
    keras.utils.set_random_seed(23)
    x, y = make_recordings(args.strikes, seed=5)
    cut = int(len(x) * 0.65)
    out = tempfile.mkdtemp(prefix="carillon_")
    held = np.stack([whiten(s) for s in x[cut:]])
    model = build(2e-3)
    callbacks = [
        BellReport(held, y[cut:], args.report_every, os.path.join(out, "recall.csv")),
        keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=2),
    ]
    model.fit(
        pipeline(x[:cut], y[:cut], args.batch, True),
        epochs=args.epochs,
        callbacks=callbacks,
        verbose=2,
    )
    print("mean recall", callbacks[0].recalls().mean().round(3))


if __name__ == "__main__":
    main()
