"""Hand-written hyper-parameter search: classify barkcloth (tapa) motifs by stamp descriptors."""

import gc
import itertools
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(5150)

CLASSES, FEATS = 7, 40
SPACE = {"width": [64, 128, 192], "lr": [2e-3], "dropout": [0.2]}


def stamp_catalogue(n, seed):
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(3).normal(size=(CLASSES, FEATS))
    y = rng.integers(0, CLASSES, size=n)
    x = centres[y] + 1.6 * rng.normal(size=(n, FEATS))
    entries = [
        {
            "id": i,
            "village": f"v{i % 31}",
            "motif": int(k),
            "stamps": [{"cm": float(v), "row": j} for j, v in enumerate(r[:8])],
        }
        for i, (k, r) in enumerate(zip(y, x))
    ]
    return x.astype("float32"), y.astype("int32"), entries


def build(width, dropout):
    return keras.Sequential(
        [
            keras.Input((FEATS,)),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dropout(dropout),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(CLASSES, activation="softmax"),
        ]
    )


class Tidy(keras.callbacks.Callback):
    """Keeps the memory of the old laptop low during long searches."""

    def __init__(self, every=4):
        super().__init__()
        self.every = every
        self.freed = 0

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == 0:
            self.freed += gc.collect()


def per_village(model, x, y, entries):
    """Hit rate by village; the worst one decides between trials."""
    hits = {}
    for row, label, entry in zip(x, y, entries):
        guess = int(np.argmax(model.predict(row[None], verbose=0)))
        hits.setdefault(entry["village"], []).append(guess == label)
    return {v: float(np.mean(h)) for v, h in hits.items()}


class Search:
    def __init__(self, space, epochs=4):
        self.trials = [dict(zip(space, combo)) for combo in itertools.product(*space.values())]
        self.epochs = epochs
        self.board = []

    def run_trial(self, hp, train, val):
        x, y, _ = train
        vx, vy, ventries = val
        model = build(hp["width"], hp["dropout"])
        model.compile(
            keras.optimizers.Adam(hp["lr"]), "sparse_categorical_crossentropy", metrics=["accuracy"]
        )
        model.fit(x, y, batch_size=100, epochs=self.epochs, verbose=0, callbacks=[Tidy()])
        acc = model.evaluate(vx, vy, batch_size=256, verbose=0)[1]
        villages = per_village(model, vx[:30], vy[:30], ventries[:30])
        return acc, min(villages.values())

    def run(self, train, val):
        for i, hp in enumerate(self.trials):
            acc, worst = self.run_trial(hp, train, val)
            self.board.append((worst, acc, hp))
            print(f"trial {i}: {hp}  acc {acc:.3f}  worst village {worst:.3f}")
        return max(self.board, key=lambda r: r[:2])


def main():
    train = stamp_catalogue(1200, 1)
    val = stamp_catalogue(240, 2)
    t0 = time.time()
    worst, acc, hp = Search(SPACE).run(train, val)
    print(f"best {hp} ({acc:.3f}); training took {time.time() - t0:.2f} s")


if __name__ == "__main__":
    main()
