"""Small hand-made search over network widths for tannin prediction from leaf spectra."""

import csv
import itertools
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SPACE = {"width": [896, 1152], "dropout": [0.1], "lr": [1e-3]}
BATCH = 256


def spectra(n=9000, bands=300, seed=40):
    rng = np.random.default_rng(seed)
    comps = np.cumsum(rng.normal(size=(12, bands)), axis=1) / np.sqrt(bands)
    mix = rng.dirichlet(np.ones(12), size=n)
    x = mix @ comps + rng.normal(0, 0.01, (n, bands))
    y = 3 * np.sin(5 * mix[:, 0]) + 4 * mix[:, 3] * mix[:, 7] + rng.normal(0, 0.05, n)
    return x.astype("float32"), y.astype("float32")[:, None]


def fixed_options():
    options = tf.data.Options()
    options.autotune.enabled = False
    return options


def build(width, dropout, lr, norm):
    inp = keras.Input((norm.mean.shape[-1],))
    h = norm(inp)
    for _ in range(3):
        skip = layers.Dense(width)(h)
        h = layers.Dense(width, activation="gelu")(h)
        h = layers.Dropout(dropout)(h)
        h = layers.Add()([h, skip])
    model = keras.Model(inp, layers.Dense(1)(h))
    steps = 28 * 6
    model.compile(
        keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(lr, steps)),
        loss="mse",
        metrics=["mae"],
    )
    return model


class Search:
    def __init__(self, space, folder):
        self.trials = [dict(zip(space, v)) for v in itertools.product(*space.values())]
        self.folder = folder
        self.results = []

    def run(self, train, val, norm, max_epochs):
        for i, hp in enumerate(self.trials):
            keras.backend.clear_session()
            keras.utils.set_random_seed(100 + i)
            model = build(norm=norm, **hp)
            stop = keras.callbacks.EarlyStopping(
                monitor="val_loss", patience=3, restore_best_weights=True
            )
            h = model.fit(
                train, validation_data=val, epochs=max_epochs, callbacks=[stop], verbose=0
            )
            best = min(h.history["val_loss"])
            print(f"trial {i}: {hp} epochs {len(h.epoch)} best val {best:.4f}")
            self.results.append({**hp, "epochs": len(h.epoch), "val": best})
            if best == min(r["val"] for r in self.results):
                model.save_weights(os.path.join(self.folder, "best.weights.h5"))

    def write(self):
        path = os.path.join(self.folder, "trials.csv")
        with open(path, "w", newline="") as f:
            w = csv.DictWriter(f, fieldnames=list(self.results[0]))
            w.writeheader()
            w.writerows(self.results)
        return path


def main():
    keras.utils.set_random_seed(40)
    x, y = spectra()
    cut = 28 * BATCH
    norm = layers.Normalization(mean=x[:cut].mean(0), variance=x[:cut].var(0) + 1e-6)
    norm.build((None, x.shape[1]))
    train = (
        tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
        .shuffle(cut, seed=2)
        .batch(BATCH, drop_remainder=True)
        .prefetch(2)
        .with_options(fixed_options())
    )
    val = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:])).batch(1024).cache().prefetch(1)
    val = val.with_options(fixed_options())
    search = Search(SPACE, tempfile.mkdtemp(prefix="tannin_"))
    search.run(train, val, norm, max_epochs=6)
    print("written", os.path.basename(search.write()))
    print("winner", min(search.results, key=lambda r: r["val"]))


if __name__ == "__main__":
    main()
