"""Predict lap splits in the pursuit from rider and track telemetry; three widths tried in turn, early stopping."""

import csv
import os
import tempfile
import time

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

SEED = 123
GRID = [
    dict(width=320, depth=3, drop=0.1, lr=2e-3),
    dict(width=448, depth=3, drop=0.2, lr=1e-3),
    dict(width=576, depth=3, drop=0.2, lr=1e-3),
]
MAX_EPOCHS = 7


def telemetry(n=13000, numeric=36, riders=60):
    rng = np.random.default_rng(SEED)
    x = rng.normal(0, 1, (n, numeric)).astype("float32")
    rider = rng.integers(0, riders, n).astype("int32")
    form = rng.normal(0, 0.5, riders)
    w = rng.normal(0, 0.3, (numeric, 6))
    y = np.sin(x @ w).sum(1) + form[rider] + 0.3 * x[:, 0] * x[:, 1] + rng.normal(0, 0.2, n)
    return x, rider, y.astype("float32")


def part(x, rider, y, rows):
    return {"ride": x[rows], "rider": rider[rows]}, y[rows]


def build(width, depth, drop, lr):
    ride = keras.Input((36,), name="ride")
    rider = keras.Input((), dtype="int32", name="rider")
    h = layers.Concatenate()([ride, layers.Embedding(60, 12)(rider)])
    h = layers.Dense(width, activation="relu")(h)
    for _ in range(depth):
        r = layers.Dense(width, activation="relu")(h)
        r = layers.Dropout(drop)(r)
        h = layers.Add()([h, layers.Dense(width)(r)])
    model = keras.Model({"ride": ride, "rider": rider}, layers.Dense(1)(h)[:, 0])
    model.compile(keras.optimizers.Adam(lr), "mse", metrics=["mae"])
    return model


class Chatter(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 3 == 2:
            print(f"    epoch {epoch + 1} val_mae {logs['val_mae']:.4f}")


def trial(number, hp, train, val, folder):
    keras.utils.set_random_seed(SEED + number)
    model = build(**hp)
    callbacks = [
        keras.callbacks.EarlyStopping("val_mae", patience=2, restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau("val_mae", patience=1, factor=0.4),
        keras.callbacks.CSVLogger(os.path.join(folder, f"trial{number}.csv")),
        Chatter(),
    ]
    h = model.fit(
        *train,
        batch_size=500,
        validation_data=val,
        validation_batch_size=1500,
        epochs=MAX_EPOCHS,
        verbose=0,
        callbacks=callbacks,
    )
    return model, min(h.history["val_mae"]), len(h.epoch)


def main():
    x, rider, y = telemetry()
    a, b = 10000, 11500
    train = part(x, rider, y, slice(0, a))
    val = part(x, rider, y, slice(a, b))
    test = part(x, rider, y, slice(b, None))
    folder = tempfile.mkdtemp(prefix="velodrome_")
    began = time.time()
    best, rows = None, []
    for number, hp in enumerate(GRID):
        t0 = time.time()
        model, score, epochs = trial(number, hp, train, val, folder)
        rows.append(dict(hp, val_mae=score, epochs=epochs))
        print(f"trial {number} {hp}: {score:.4f} after {epochs} epochs, {time.time() - t0:.1f} s")
        if best is None or score < best[1]:
            best = (model, score, number)
    print(f"training took {time.time() - began:.2f} s")
    with open(os.path.join(folder, "grid.csv"), "w", newline="") as f:
        w = csv.DictWriter(f, rows[0].keys())
        w.writeheader()
        w.writerows(rows)
    print(
        "test",
        best[0].evaluate(*test, batch_size=1500, verbose=0, return_dict=True),
        "with trial",
        best[2],
    )


if __name__ == "__main__":
    main()
