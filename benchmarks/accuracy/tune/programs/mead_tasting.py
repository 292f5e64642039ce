"""Three model sizes in turn predict a mead's score from its must analysis.

Each has its own warm start, plateau schedule and early stopping; the best one
is written down at the end.
"""

import os
import tempfile
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
from tensorflow import keras


@dataclass(frozen=True)
class Candidate:
    name: str
    width: int
    depth: int
    batch: int
    rate: float


CANDIDATES = (
    Candidate("hydromel", 512, 2, 256, 1e-3),
    Candidate("melomel", 1024, 2, 512, 7e-4),
    Candidate("sack", 1280, 3, 512, 5e-4),
)


def must_table(n, rng):
    x = rng.normal(size=(n, 60)).astype("float32")
    a = rng.normal(size=(60, 12)) / 8
    y = np.tanh(x @ a).sum(1, keepdims=True) + 0.5 * np.abs(x[:, :1]) * x[:, 1:2]
    y += rng.normal(0, 0.3, y.shape)
    return x, y.astype("float32")


class Ledger(keras.callbacks.Callback):
    def __init__(self, name):
        super().__init__()
        self.name, self.lines = name, []

    def on_epoch_end(self, epoch, logs=None):
        self.lines.append((epoch, logs["loss"], logs["val_loss"]))
        print(f"  {self.name:9s} {epoch:2d}  {logs['loss']:.4f}  {logs['val_loss']:.4f}")


def brew(c):
    inp = keras.Input((60,))
    h = keras.layers.LayerNormalization()(inp)
    for _ in range(c.depth):
        h = keras.layers.Dense(c.width, activation="gelu")(h)
        h = keras.layers.Dropout(0.05)(h)
    model = keras.Model(inp, keras.layers.Dense(1)(h), name=c.name)
    model.compile(keras.optimizers.AdamW(c.rate, weight_decay=1e-4), "mse")
    return model


def main():
    keras.utils.set_random_seed(99)
    rng = np.random.default_rng(99)
    x, y = must_table(6600, rng)
    tx, ty, vx, vy = x[:6000], y[:6000], x[6000:], y[6000:]
    results = {}
    for c in CANDIDATES:
        model = brew(c)
        ledger = Ledger(c.name)
        model.fit(
            tx,
            ty,
            validation_data=(vx, vy),
            batch_size=c.batch,
            epochs=8,
            verbose=0,
            validation_batch_size=600,
            callbacks=[
                ledger,
                keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5),
                keras.callbacks.EarlyStopping(patience=4, restore_best_weights=True),
            ],
        )
        results[c.name] = (min(l[2] for l in ledger.lines), model)
    best = min(results, key=lambda k: results[k][0])
    folder = tempfile.mkdtemp(prefix="mead_")
    results[best][1].save_weights(os.path.join(folder, f"{best}.weights.h5"))
    print("best:", best, round(results[best][0], 4))


if __name__ == "__main__":
    main()
