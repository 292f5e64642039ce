"""Cross-validated ranking of clay tablet fragments that may join.

Keras fit for each fold, then the curator's report on the fold's fragments.
"""

import csv
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 1889
FOLDS = 3
EPOCHS = 4
EDGE = 256


def fragments(n, rng):
    left = rng.normal(size=(n, EDGE)).astype("float32")
    joins = rng.random(n) < 0.5
    right = np.where(
        joins[:, None], -left + rng.normal(0, 1.5, left.shape), rng.normal(0, 1.8, left.shape)
    ).astype("float32")
    return left, right, joins.astype("float32")


def build():
    left = keras.Input((EDGE,), name="left")
    right = keras.Input((EDGE,), name="right")
    shared = keras.Sequential(
        [keras.layers.Dense(256, activation="relu"), keras.layers.Dense(96)], name="edge_encoder"
    )
    a, b = shared(left), shared(right)
    both = keras.layers.Concatenate()([a, b, keras.layers.Multiply()([a, b])])
    h = keras.layers.Dense(128, activation="relu")(both)
    out = keras.layers.Dense(1, activation="sigmoid")(h)
    model = keras.Model([left, right], out)
    model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy", metrics=["accuracy"])
    return model


class Shelf(keras.callbacks.Callback):
    """Keeps the model on the shelf whenever the running loss falls."""

    def __init__(self, folder, every):
        super().__init__()
        self.folder, self.every = folder, every
        self.lowest = float("inf")

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == 0 and logs["loss"] < self.lowest * 1.05:
            self.lowest = min(self.lowest, logs["loss"])
            self.model.save(os.path.join(self.folder, f"edge_{batch % 3}.keras"))


def curator_report(model, left, right, truth, path):
    hits = 0
    with open(path, "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["fragment", "score", "joins"])
        for i in range(len(truth)):
            score = float(model.predict([left[i : i + 1], right[i : i + 1]], verbose=0)[0, 0])
            hits += (score > 0.5) == bool(truth[i])
            out.writerow([i, f"{score:.4f}", int(truth[i])])
    return hits / len(truth)


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    left, right, joins = fragments(4800, rng)
    fold_of = rng.integers(0, FOLDS, len(joins))
    folder = tempfile.mkdtemp(prefix="tablets_")
    scores = []
    for fold in range(FOLDS):
        train, test = np.where(fold_of != fold)[0], np.where(fold_of == fold)[0][:40]
        model = build()
        shelf = Shelf(folder, every=3)
        model.fit(
            [left[train], right[train]],
            joins[train],
            batch_size=64,
            epochs=EPOCHS,
            verbose=0,
            callbacks=[shelf],
        )
        report = os.path.join(folder, f"report_{fold}.csv")
        scores.append(curator_report(model, left[test], right[test], joins[test], report))
        print(
            f"fold {fold}: {len(train)} pairs, {scores[-1]:.3f} right, lowest loss {shelf.lowest:.3f}"
        )
    print("mean over folds", round(float(np.mean(scores)), 3))


if __name__ == "__main__":
    main()
