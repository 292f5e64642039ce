"""
My first project in the QA team :)  Classify steel surface patches (ok, scratch,
dent, stain). My mentor told me to raise the batch size in the later stages
instead of dropping the learning rate (Smith et al.), so fit() is called three times.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tempfile
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(3)
CLASSES = ["ok", "scratch", "dent", "stain"]
SIZE = 48


def steel(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0.55, 0.06, (n, SIZE, SIZE, 1)).astype("float32")
    y = rng.integers(0, 4, n)
    gy, gx = np.mgrid[0:SIZE, 0:SIZE]
    for k in range(n):
        cx, cy = rng.uniform(10, SIZE - 10, 2)
        if y[k] == 1:
            a = rng.uniform(0, np.pi)
            line = np.abs((gx - cx) * np.cos(a) + (gy - cy) * np.sin(a)) < 1.0
            x[k, line, 0] += 0.25
        elif y[k] == 2:
            d = np.hypot(gx - cx, gy - cy)
            x[k, ..., 0] -= 0.3 * np.exp(-((d / 5) ** 2))
        elif y[k] == 3:
            d = np.hypot(gx - cx, 0.6 * (gy - cy))
            x[k, ..., 0] -= 0.15 * (d < 9)
    return x, y


def make_model():
    return keras.Sequential(
        [
            layers.Input((SIZE, SIZE, 1)),
            layers.Conv2D(24, 5, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(48, 3, padding="same", activation="relu"),
            layers.Conv2D(48, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(96, 3, padding="same", activation="relu"),
            layers.GlobalMaxPooling2D(),
            layers.Dropout(0.3),
            layers.Dense(64, activation="relu"),
            layers.Dense(4),
        ]
    )


class EpochNotes(keras.callbacks.Callback):
    """Writes one line per epoch so I can show my mentor later."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.stage = "?"

    def on_epoch_end(self, epoch, logs=None):
        with open(self.path, "a") as f:
            f.write(
                f"{self.stage} {epoch} " + " ".join(f"{k}={v:.4f}" for k, v in logs.items()) + "\n"
            )


def confusion(model, x, y):
    pred = np.argmax(model.predict(x, batch_size=256, verbose=0), axis=1)
    m = np.zeros((4, 4), int)
    np.add.at(m, (y, pred), 1)
    print("rows = truth", CLASSES)
    print(m)


def main():
    out = tempfile.mkdtemp(prefix="surface_")
    x_train, y_train = steel(1536, 0)
    x_val, y_val = steel(256, 1)
    x_test, y_test = steel(256, 2)

    model = make_model()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.summary()
    notes = EpochNotes(os.path.join(out, "notes.txt"))

    # stage -> (batch size, epochs)
    for stage, (bs, ep) in enumerate([(32, 6), (96, 5), (256, 5)], start=1):
        notes.stage = f"stage{stage}"
        print("--- stage", stage, "batch size", bs)
        model.fit(
            x_train,
            y_train,
            batch_size=bs,
            epochs=ep,
            verbose=2,
            validation_data=(x_val, y_val),
            validation_batch_size=256,
            callbacks=[notes],
        )
        model.save(os.path.join(out, f"stage{stage}.keras"))

    loss, acc = model.evaluate(x_test, y_test, batch_size=256, verbose=0)
    print("test accuracy", round(acc, 3))
    confusion(model, x_test, y_test)


if __name__ == "__main__":
    main()
