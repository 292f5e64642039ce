"""Predict the tension (N) of a zither string from a short pluck recording."""

import argparse
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(411)

RATE = 4000
N_SAMPLES = 320


def pluck(rng, tension, damping):
    t = np.arange(N_SAMPLES) / RATE
    f0 = 60.0 * np.sqrt(tension)
    wave = np.zeros(N_SAMPLES)
    for k in range(1, 5):
        wave += np.exp(-damping * k * t) * np.sin(2 * np.pi * f0 * k * t) / k
    return (wave + 0.05 * rng.normal(size=N_SAMPLES)).astype("float32")


def make_recordings(n, seed):
    rng = np.random.default_rng(seed)
    tension = rng.uniform(4.0, 16.0, size=n)
    damping = rng.uniform(8.0, 25.0, size=n)
    x = np.stack([pluck(rng, a, b) for a, b in zip(tension, damping)])
    return x, ((tension - 10.0) / 4.0).astype("float32")


class PluckBatches(keras.utils.PyDataset):
    """Shuffled batches; each pluck gets smoothed and peak-normalised."""

    def __init__(self, x, y, batch_size, smooth=3, **kw):
        super().__init__(**kw)
        self.x, self.y, self.batch_size, self.smooth = x, y, batch_size, smooth
        self.order = np.arange(len(x))
        self.rng = np.random.default_rng(7)

    def __len__(self):
        return len(self.x) // self.batch_size

    def envelope(self, wave):
        half = self.smooth // 2
        out = []
        for i in range(len(wave)):
            lo, hi = max(0, i - half), min(len(wave), i + half + 1)
            out.append(sum(wave[lo:hi]) / (hi - lo))
        return np.asarray(out, "float32")

    def __getitem__(self, idx):
        sel = self.order[idx * self.batch_size : (idx + 1) * self.batch_size]
        waves = np.stack([self.envelope(self.x[j]) for j in sel])
        waves /= np.abs(waves).max(axis=1, keepdims=True) + 1e-6
        return waves[..., None], self.y[sel]

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


class WeightWander(keras.callbacks.Callback):
    """How far do the current weights sit from the mean of the run so far, in units of their spread?"""

    def __init__(self):
        super().__init__()
        self.trail = []
        self.wander = []

    def on_train_batch_end(self, batch, logs=None):
        flat = np.concatenate([w.numpy().ravel() for w in self.model.trainable_variables])
        self.trail.append(flat)
        trail = np.stack(self.trail)
        centre, spread = trail.mean(axis=0), trail.std(axis=0)
        self.wander.append(float(np.mean(np.abs(flat - centre) / (spread + 1e-4))))


def build():
    inp = keras.Input((N_SAMPLES, 1))
    h = keras.layers.Conv1D(16, 9, strides=2, activation="relu")(inp)
    h = keras.layers.Conv1D(32, 7, strides=2, activation="relu")(h)
    h = keras.layers.Conv1D(48, 5, strides=2, activation="relu")(h)
    h = keras.layers.GlobalAveragePooling1D()(h)
    h = keras.layers.Dense(64, activation="relu")(h)
    return keras.Model(inp, keras.layers.Dense(1)(h), name="tension_net")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=16)
    ap.add_argument("--batch-size", type=int, default=24)
    args = ap.parse_args()
    out = tempfile.mkdtemp(prefix="zither_")

    x, y = make_recordings(480, seed=1)
    vx, vy = make_recordings(48, seed=2)
    model = build()
    model.compile(keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
    t0 = time.time()
    wander = WeightWander()
    model.fit(
        PluckBatches(x, y, args.batch_size),
        validation_data=PluckBatches(vx, vy, 48),
        epochs=args.epochs,
        verbose=2,
        callbacks=[
            wander,
            keras.callbacks.CSVLogger(os.path.join(out, "log.csv")),
            keras.callbacks.ReduceLROnPlateau(patience=4),
        ],
    )
    print(f"wander at end {wander.wander[-1]:.3f}; training took {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
