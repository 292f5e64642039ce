"""Three candidate networks for flaws in bell bronze, one after the other, same data."""

import math
import time

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

PARTIALS, TAPS = 24, 6


def strike(n, seed):
    rng = np.random.default_rng(seed)
    flaw = (rng.random(n) < 0.25).astype("float32")
    freq = np.linspace(1, 9, PARTIALS)[None, None, :]
    decay = rng.uniform(0.5, 1.5, (n, 1, 1))
    amp = np.exp(-freq * 0.2 * decay) + rng.normal(0, 0.4, (n, TAPS, PARTIALS))
    beat = np.sin(freq * 2 + rng.uniform(0, 6, (n, 1, 1))) * 0.12
    x = amp + flaw[:, None, None] * beat
    weight = np.where(flaw > 0, 2.0, 0.7).astype("float32")
    return x.reshape(n, -1).astype("float32"), flaw, weight


class Strikes(keras.utils.PyDataset):
    def __init__(self, x, y, w, batch, seed):
        super().__init__(workers=1, use_multiprocessing=False)
        self.x, self.y, self.w, self.batch = x, y, w, batch
        self.rng = np.random.default_rng(seed)
        self.order = self.rng.permutation(len(x))

    def __len__(self):
        return math.floor(len(self.x) / self.batch)

    def __getitem__(self, i):
        idx = self.order[i * self.batch : (i + 1) * self.batch]
        return self.x[idx], self.y[idx], self.w[idx]

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.x))


def plain(width):
    return [layers.Dense(width, activation="relu") for _ in range(3)]


def normed(width):
    out = []
    for _ in range(3):
        out += [layers.Dense(width), layers.LayerNormalization(), layers.Activation("relu")]
    return out


def bottleneck(width):
    return [
        layers.Dense(2 * width, activation="relu"),
        layers.Dense(128, activation="relu"),
        layers.Dense(2 * width, activation="relu"),
        layers.Dropout(0.2),
    ]


CANDIDATES = {"plain": (plain, 640), "normed": (normed, 512), "bottleneck": (bottleneck, 640)}


def build(name):
    make, width = CANDIDATES[name]
    model = keras.Sequential(
        [keras.Input((PARTIALS * TAPS,))] + make(width) + [layers.Dense(1, activation="sigmoid")],
        name=name,
    )
    model.compile(
        keras.optimizers.Adam(7e-4),
        "binary_crossentropy",
        weighted_metrics=[keras.metrics.AUC(name="auc", num_thresholds=50)],
        jit_compile=False,
    )
    return model


def main():
    keras.utils.set_random_seed(1499)
    x, y, w = strike(24_576, seed=1)
    xv, yv, wv = strike(2_048, seed=2)
    scores = {}
    for name in CANDIDATES:
        t0 = time.time()
        model = build(name)
        train = Strikes(x, y, w, batch=1024, seed=6)
        stop = keras.callbacks.EarlyStopping(
            "val_auc", mode="max", patience=2, restore_best_weights=True
        )
        hist = model.fit(
            train,
            epochs=4,
            validation_data=(xv, yv, wv),
            validation_batch_size=1024,
            callbacks=[stop],
            verbose=2,
        )
        scores[name] = max(hist.history["val_auc"])
        print(
            f"== {name}: {model.count_params()} parameters, best auc {scores[name]:.4f}, "
            f"{len(hist.epoch)} epochs, {time.time() - t0:.1f}s"
        )
    print("winner:", max(scores, key=scores.get))


if __name__ == "__main__":
    main()
