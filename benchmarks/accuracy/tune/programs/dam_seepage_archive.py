"""Autoencoder on piezometer readings of an earth dam, retrained when a new month arrives.

The whole archive is used in each retraining. I notice that every fit call takes
longer than the one before. Same model object, nothing is rebuilt.
"""

import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 404
N_SENSORS = 160
PER_MONTH = 4096
MONTHS = 8
BATCH = 512
EPOCHS_PER_MONTH = 2

keras.utils.set_random_seed(SEED)


class DamSimulator:
    """Pore pressures driven by the water level plus slow clogging of the drains."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.mix = self.rng.standard_normal((9, N_SENSORS)).astype("float32")
        self.clock = 0
        self.clog = np.zeros(9, "float32")

    def month(self):
        t = self.clock + np.arange(PER_MONTH)
        self.clock += PER_MONTH
        level = np.sin(2 * np.pi * t / 40000) + 0.1 * self.rng.standard_normal(PER_MONTH)
        drivers = [level * np.cos(k) + np.sin(2 * np.pi * t / (200 * (k + 1))) for k in range(9)]
        drivers = np.stack(drivers, 1).astype("float32") + self.clog
        self.clog += 0.05 * self.rng.standard_normal(9).astype("float32")
        z = np.tanh(drivers @ self.mix)
        return (z + 0.05 * self.rng.standard_normal(z.shape)).astype("float32")


def build_autoencoder(width=640, code=12):
    inp = keras.Input((N_SENSORS,), name="piezometers")
    h = keras.layers.Dense(width, activation="relu")(inp)
    h = keras.layers.Dense(width // 2, activation="relu")(h)
    code = keras.layers.Dense(code, name="code")(h)
    h = keras.layers.Dense(width // 2, activation="relu")(code)
    h = keras.layers.Dense(width, activation="relu")(h)
    out = keras.layers.Dense(N_SENSORS)(h)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
    return model


class Archive:
    def __init__(self, capacity):
        self.rows = np.empty((capacity, N_SENSORS), "float32")
        self.size = 0

    def append(self, block):
        self.rows[self.size : self.size + len(block)] = block
        self.size += len(block)

    def all(self):
        return self.rows[: self.size]


def main():
    dam = DamSimulator(SEED)
    archive = Archive(MONTHS * PER_MONTH)
    model = build_autoencoder()
    took = []
    for month in range(1, MONTHS + 1):
        fresh = dam.month()
        if month > 1:
            surprise = model.evaluate(fresh, fresh, batch_size=BATCH * 2, verbose=0)
            print("  new month, error before retraining: %.4f" % surprise)
        archive.append(fresh)
        x = archive.all()
        tic = time.time()
        hist = model.fit(x, x, batch_size=BATCH, epochs=EPOCHS_PER_MONTH, shuffle=True, verbose=0)
        took.append(time.time() - tic)
        print(
            "%d. month: %6d rows, loss %.4f, fit took %.2f s"
            % (month, len(x), hist.history["loss"][-1], took[-1])
        )
    print("fit times:", " ".join("%.2f" % t for t in took))


if __name__ == "__main__":
    main()
