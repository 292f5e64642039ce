"""Hail size classes from the twelve piezo channels of a hail pad."""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class PadConfig:
    channels: int = 12
    ticks: int = 160
    classes: int = 5
    n_train: int = 1920
    n_test: int = 640
    batch: int = 64
    epochs: int = 12
    jitter_from: int = 3  # plain impacts first, clock jitter later
    seed: int = 404


def record_pads(n, cfg, rng):
    t = np.arange(cfg.ticks)[None, :, None]
    label = rng.integers(0, cfg.classes, n)
    onset = rng.uniform(15, 50, (n, 1, 1))
    freq = 0.12 + 0.05 * label[:, None, None] + rng.normal(0, 0.015, (n, 1, cfg.channels))
    decay = 14 + 5 * label[:, None, None] + rng.normal(0, 2, (n, 1, 1))
    gain = rng.uniform(0.3, 1.0, (n, 1, cfg.channels))
    rel = np.maximum(t - onset, 0)
    x = gain * np.exp(-rel / decay) * np.sin(2 * np.pi * freq * rel) * (t > onset)
    x = x + rng.normal(0, 0.12, x.shape)
    return x.astype("float32"), label.astype("int32")


class PadSequence(keras.utils.PyDataset):
    """Batches of impacts; from some epoch on the sample clock drifts a bit."""

    def __init__(self, x, y, cfg, **kw):
        super().__init__(**kw)
        self.x, self.y, self.cfg = x, y, cfg
        self.rng = np.random.default_rng(cfg.seed + 1)
        self.order = np.arange(len(x))
        self.epoch = 0

    def __len__(self):
        return len(self.x) // self.cfg.batch

    def _drift(self, n):
        knots = self.rng.normal(0, 1.0, (n, self.cfg.ticks, self.cfg.channels))
        return np.arange(self.cfg.ticks)[None, :, None] + np.cumsum(0.15 * knots, axis=1)

    def jitter(self, x):
        clock = self._drift(len(x))
        grid = np.arange(self.cfg.ticks)
        out = np.empty_like(x)
        for i in range(len(x)):
            for c in range(self.cfg.channels):
                shifted = np.sort(clock[i, :, c])
                wave = np.interp(grid, shifted, x[i, :, c])
                out[i, :, c] = wave - np.percentile(wave, 50)
        return out

    def __getitem__(self, idx):
        rows = self.order[idx * self.cfg.batch : (idx + 1) * self.cfg.batch]
        x = self.x[rows]
        if self.epoch >= self.cfg.jitter_from:
            x = self.jitter(x)
        return x, self.y[rows]

    def on_epoch_end(self):
        self.epoch += 1
        self.rng.shuffle(self.order)


def build(cfg):
    inp = keras.Input((cfg.ticks, cfg.channels))
    x = inp
    for i, width in enumerate((48, 64, 96)):
        x = layers.Conv1D(width, 7, padding="same", use_bias=False, name=f"conv{i}")(x)
        x = layers.BatchNormalization()(x)
        x = layers.Activation("relu")(x)
        x = layers.MaxPooling1D(2)(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(cfg.classes)(x), name="hail")


def main():
    cfg = PadConfig()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x, y = record_pads(cfg.n_train, cfg, rng)
    xt, yt = record_pads(cfg.n_test, cfg, rng)
    model = build(cfg)
    model.compile(
        keras.optimizers.Adam(2e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        jit_compile=False,
    )
    out = Path(tempfile.mkdtemp(prefix="hail_"))
    begin = time.time()
    hist = model.fit(
        PadSequence(x, y, cfg),
        epochs=cfg.epochs,
        verbose=2,
        validation_data=(xt, yt),
        validation_batch_size=128,
        callbacks=[keras.callbacks.CSVLogger(str(out / "pads.csv"))],
    )
    print("train %.2fs" % (time.time() - begin))
    print("best val acc %.3f" % max(hist.history["val_accuracy"]))


if __name__ == "__main__":
    main()
