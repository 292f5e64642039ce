"""Daily kelp biomass from buoy readings (tabular fit), with a watch on what the model relies on."""

import argparse
import time
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf
from tensorflow import keras

FEATURES = [
    "sst",
    "nitrate",
    "swell",
    "turbidity",
    "par",
    "salinity",
    "tide",
    "urchins",
    "wind_u",
    "wind_v",
    "upwelling",
    "depth",
]


@dataclass
class Settings:
    rows: int = 24000
    batch: int = 64
    epochs: int = 6
    width: int = 192
    probe_from: int = 2
    probe_every: int = 110
    probe_rows: int = 512
    seed: int = 404
    notes: dict = field(default_factory=dict)


def buoy_table(cfg):
    rng = np.random.default_rng(cfg.seed)
    x = rng.normal(size=(cfg.rows, len(FEATURES))).astype("float32")
    y = (
        1.5 * np.tanh(x[:, 1] - x[:, 0])
        - 0.7 * x[:, 7] * (x[:, 2] > 0)
        + 0.4 * np.sin(2 * x[:, 6])
        + 0.3 * x[:, 4] * x[:, 10]
    )
    y = y + rng.normal(0, 0.2, cfg.rows)
    return x, y.astype("float32")


class RelianceProbe(keras.callbacks.Callback):
    """Rise of the error on the probe rows when one column is shuffled."""

    def __init__(self, x, y, cfg):
        super().__init__()
        self.x, self.y, self.cfg = x, y, cfg
        self.rng = np.random.default_rng(cfg.seed + 1)
        self.epoch = 0
        self.seen = 0
        self.table = []

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        self.seen += 1
        if self.epoch >= self.cfg.probe_from and self.seen % self.cfg.probe_every == 0:
            self.table.append(self.measure())

    def error(self, x):
        pred = self.model.predict(x, batch_size=128, verbose=0)[:, 0]
        return float(np.mean((pred - self.y) ** 2))

    def measure(self):
        base = self.error(self.x)
        rise = {}
        for j, name in enumerate(FEATURES):
            x = self.x.copy()
            self.rng.shuffle(x[:, j])
            rise[name] = self.error(x) - base
        return rise

    def on_epoch_end(self, epoch, logs=None):
        if self.table:
            last = self.table[-1]
            top = sorted(last, key=last.get, reverse=True)[:3]
            print("   relies on", ", ".join(f"{t} {last[t]:.3f}" for t in top), flush=True)


def build(cfg):
    model = keras.Sequential([keras.Input((len(FEATURES),))])
    for _ in range(3):
        model.add(keras.layers.Dense(cfg.width, activation="gelu"))
    model.add(keras.layers.Dense(1))
    sched = keras.optimizers.schedules.CosineDecay(2e-3, cfg.epochs * 330)
    model.compile(keras.optimizers.AdamW(sched, weight_decay=1e-4), "mse")
    return model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    args = ap.parse_args()
    cfg = Settings(epochs=args.epochs)
    keras.utils.set_random_seed(cfg.seed)
    x, y = buoy_table(cfg)
    cut = int(cfg.rows * 0.88)
    train = (
        tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
        .cache()
        .shuffle(cut, seed=cfg.seed)
        .batch(cfg.batch)
        .prefetch(tf.data.AUTOTUNE)
    )
    held = (x[cut:], y[cut:])
    probe = RelianceProbe(held[0][: cfg.probe_rows], held[1][: cfg.probe_rows], cfg)
    model = build(cfg)
    t0 = time.time()
    model.fit(
        train,
        epochs=cfg.epochs,
        validation_data=held,
        validation_batch_size=960,
        verbose=2,
        callbacks=[probe],
    )
    print(f"probes {len(probe.table)}, training {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
