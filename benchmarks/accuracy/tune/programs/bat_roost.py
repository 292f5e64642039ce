"""Which bat species left the roost?  Small conv net on echolocation calls."""

import collections

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SPECIES = ["noctule", "serotine", "pipistrelle", "barbastelle", "daubenton", "horseshoe"]
N_TRAIN, N_HELD = 3840, 48
FRAMES, BANDS = 96, 32


def calls(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(SPECIES), n)
    t = np.linspace(0, 1, FRAMES)[None, :, None]
    f = np.linspace(0, 1, BANDS)[None, None, :]
    start = 0.9 - 0.08 * y + rng.normal(0, 0.04, n)
    slope = 0.2 + 0.07 * y + rng.normal(0, 0.04, n)
    ridge = start[:, None, None] - slope[:, None, None] * t
    x = np.exp(-(((f - ridge) / 0.05) ** 2)) + rng.normal(0, 0.5, (n, FRAMES, BANDS))
    return x.astype("float32"), y.astype("int32")


def build():
    inp = keras.Input((FRAMES, BANDS))
    x = inp
    for width in (64, 96, 128):
        x = layers.Conv1D(width, 5, padding="same")(x)
        x = layers.LayerNormalization()(x)
        x = layers.Activation("relu")(x)
        x = layers.MaxPooling1D(2)(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inp, layers.Dense(len(SPECIES), activation="softmax")(x))


def mixed_up(true, guess):
    table = collections.Counter()
    for a, b in zip(true, guess):
        if a != b:
            table[SPECIES[a], SPECIES[b]] += 1
    return table.most_common(2)


class RoostReport(keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y
        self.history = []

    def guess_species(self):
        out = []
        for call in self.x:
            p = self.model.predict(call[None], verbose=0)
            out.append(int(p[0].argmax()))
        return out

    def on_epoch_end(self, epoch, logs=None):
        guess = self.guess_species()
        acc = float(np.mean(np.array(guess) == self.y))
        self.history.append(acc)
        print(f"  roost accuracy {acc:.3f}, mixed up: {mixed_up(self.y, guess)}")


def main():
    keras.utils.set_random_seed(2024)
    x, y = calls(N_TRAIN, seed=1)
    xh, yh = calls(N_HELD, seed=2)
    ds = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .cache()
        .shuffle(N_TRAIN, seed=0)
        .batch(64, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    model = build()
    model.compile(
        keras.optimizers.AdamW(2e-3, weight_decay=1e-3),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
        jit_compile=False,
    )
    report = RoostReport(xh, yh)
    model.fit(ds, epochs=4, callbacks=[report], verbose=2)
    print("roost accuracy by epoch:", [round(a, 3) for a in report.history])


if __name__ == "__main__":
    main()
