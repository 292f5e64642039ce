"""Short-horizon power forecast for a small wind farm (10-minute SCADA records).

Input:  the last 8 hours of one turbine, plus derived gust features.
Target: mean active power of the next hour, scaled to rated power.
"""

import csv
import os

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
import numpy as np
from keras import layers

SEED = 11
N_TURBINES = 8
DAYS = 120
PER_DAY = 144
WINDOW = 48
HORIZON = 6
BATCH = 32
EPOCHS = 6
STEPS = 260
RATED_KW = 2300.0


def simulate_farm(rng):
    """AR(1) wind with a daily cycle; power through a logistic power curve."""
    n = DAYS * PER_DAY
    t = np.arange(n)
    base = 8.0 + 1.8 * np.sin(2 * np.pi * t / PER_DAY) + 1.2 * np.sin(2 * np.pi * t / (PER_DAY * 9))
    farm = []
    for k in range(N_TURBINES):
        noise = np.zeros(n)
        shocks = rng.normal(0, 0.55, n)
        for i in range(1, n):
            noise[i] = 0.93 * noise[i - 1] + shocks[i]
        wind = np.clip(base + noise + 0.2 * k, 0.3, 28.0)
        direction = np.cumsum(rng.normal(0, 2.0, n)) % 360.0
        temp = 9 + 6 * np.sin(2 * np.pi * (t - 30) / PER_DAY) + rng.normal(0, 0.4, n)
        power = RATED_KW / (1.0 + np.exp(-0.95 * (wind - 9.2)))
        power *= np.where(wind > 25.0, 0.0, 1.0)
        power *= 1 + rng.normal(0, 0.02, n)
        farm.append(np.stack([wind, direction, temp, power / RATED_KW], axis=1))
    return np.asarray(farm, dtype="float32")


class ScadaWindows(keras.utils.PyDataset):
    """Draws random windows from the farm and derives the gust channels."""

    def __init__(self, farm, first, last, steps, seed, **kwargs):
        super().__init__(**kwargs)
        self.farm = farm
        self.first, self.last = first, last
        self.steps = steps
        self.seed = seed
        self.epoch = 0

    def __len__(self):
        return self.steps

    def on_epoch_end(self):
        self.epoch += 1

    def window_channels(self, record):
        wind = record[:, 0]
        padded = np.concatenate([np.repeat(wind[:1], 5), wind])
        recent = np.lib.stride_tricks.sliding_window_view(padded, 6)
        mean = recent.mean(axis=1)
        angle = np.radians(record[:, 1])
        return np.stack(
            [
                wind / 15.0,
                np.sin(angle),
                np.cos(angle),
                record[:, 2] / 20.0,
                record[:, 3],
                mean / 15.0,
                recent.std(axis=1) / (mean + 1e-3),
            ],
            axis=1,
        )

    def __getitem__(self, idx):
        rng = np.random.default_rng((self.seed, self.epoch, idx))
        xs, ys = [], []
        for _ in range(BATCH):
            k = rng.integers(N_TURBINES)
            s = rng.integers(self.first, self.last - WINDOW - HORIZON)
            record = self.farm[k, s : s + WINDOW]
            xs.append(self.window_channels(record))
            ys.append(self.farm[k, s + WINDOW : s + WINDOW + HORIZON, 3].mean())
        return np.asarray(xs, "float32"), np.asarray(ys, "float32")[:, None]


class RunJournal(keras.callbacks.Callback):
    """Keeps loss and smoothed loss of the run in a CSV for the dashboard."""

    COLUMNS = ["step", "epoch", "loss", "mae", "loss_smooth", "lr"]

    def __init__(self, path, alpha=0.05):
        super().__init__()
        self.path = path
        self.alpha = alpha
        self.rows = []
        self.epoch = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def smooth(self):
        level = self.rows[0]["loss"]
        for row in self.rows:
            level += self.alpha * (row["loss"] - level)
            row["loss_smooth"] = round(level, 6)

    def on_train_batch_end(self, batch, logs=None):
        self.rows.append(
            {
                "step": len(self.rows),
                "epoch": self.epoch,
                "loss": float(logs["loss"]),
                "mae": float(logs["mae"]),
                "lr": float(self.model.optimizer.learning_rate.numpy()),
            }
        )
        self.smooth()
        with open(self.path, "w", newline="") as fh:
            writer = csv.DictWriter(fh, fieldnames=self.COLUMNS)
            writer.writeheader()
            writer.writerows(self.rows)


def build_model():
    inp = keras.Input((WINDOW, 7))
    x = layers.Conv1D(48, 5, padding="same", activation="relu")(inp)
    x = layers.Conv1D(64, 5, padding="same", strides=2, activation="relu")(x)
    x = layers.Conv1D(64, 3, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(64, activation="relu")(x)
    return keras.Model(inp, layers.Dense(1)(x))


def main():
    keras.utils.set_random_seed(SEED)
    farm = simulate_farm(np.random.default_rng(SEED))
    cut = int(DAYS * PER_DAY * 0.85)
    train = ScadaWindows(farm, 0, cut, STEPS, seed=1)
    valid = ScadaWindows(farm, cut, DAYS * PER_DAY, 15, seed=2)

    model = build_model()
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="huber", metrics=["mae"])
    model.fit(
        train,
        validation_data=valid,
        epochs=EPOCHS,
        verbose=2,
        callbacks=[
            RunJournal("journal.csv"),
            keras.callbacks.ModelCheckpoint("latest.keras", save_freq=4),
            keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5),
        ],
    )
    model.save("turbine_forecast.keras")


if __name__ == "__main__":
    main()
