"""Visibility class at lighthouses from weather masts; fit() in an outer loop over stations.

Each station continues from the weights of the last one. After each epoch we want the
per-station "cost of a wrong foghorn call" on held-out hours, Keras has no metric for it.
"""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 99
STATIONS = ["Skerryvore", "Fastnet", "Eddystone", "Bell Rock"]
COST = np.array([[0, 1, 4], [2, 0, 1], [9, 3, 0]], dtype=np.float32)
FEATURES = 24 * 6


def station_hours(k, hours, rng):
    drift = rng.normal(0, 0.3, 6)
    t = np.arange(hours)[:, None] + np.arange(24)[None, :]
    base = np.stack([np.sin(2 * np.pi * t / p) for p in (24, 12, 48, 96, 31, 17)], -1)
    x = base + drift + 0.5 * rng.normal(size=base.shape)
    score = x[:, -6:, 0].mean(1) - x[:, -6:, 3].mean(1) * x[:, -3:, 1].mean(1)
    y = np.digitize(score, np.quantile(score, [0.5, 0.8]))
    return x.reshape(hours, FEATURES).astype(np.float32), y.astype(np.int64)


def make_model():
    inp = keras.Input((FEATURES,))
    h = keras.layers.Dense(768, activation="relu")(inp)
    h = keras.layers.Dropout(0.2)(h)
    h = keras.layers.Dense(768, activation="relu")(h)
    out = keras.layers.Dense(3, activation="softmax")(h)
    model = keras.Model(inp, out)
    model.compile(
        keras.optimizers.Adam(5e-4), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    return model


class FoghornCost(keras.callbacks.Callback):
    def __init__(self, x, y, store):
        super().__init__()
        self.x, self.y = x, y
        self.store = store

    def decide(self, row):
        p = self.model(row[None, :], training=False).numpy()[0]
        expected = COST.T @ p
        return int(np.argmin(expected))

    def on_epoch_end(self, epoch, logs=None):
        total = 0.0
        for row, label in zip(self.x, self.y):
            total += COST[label, self.decide(row)]
        self.store.append(total / len(self.y))
        logs["foghorn"] = self.store[-1]


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    model = make_model()
    history = {}
    start = time.time()
    for k, name in enumerate(STATIONS):
        x, y = station_hours(k, 5600, rng)
        cut = 5200
        costs = history.setdefault(name, [])
        fit = model.fit(
            x[:cut],
            y[:cut],
            batch_size=128,
            epochs=4,
            verbose=0,
            callbacks=[FoghornCost(x[cut:], y[cut:], costs)],
        )
        acc = fit.history["accuracy"][-1]
        print(f"{name:<11s} acc {acc:.3f}  foghorn cost {costs[0]:.3f} -> {costs[-1]:.3f}")
    mean = np.mean([c[-1] for c in history.values()])
    print("mean final cost %.3f; all stations %.2f s" % (mean, time.time() - start))


if __name__ == "__main__":
    main()
