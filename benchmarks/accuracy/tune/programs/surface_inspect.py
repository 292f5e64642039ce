"""Classifier for rolled-steel surface patches (crazing / inclusion / patches / pitted / scale / scratch).

Patches are rendered synthetically so the script can be tried without the
plant archive.  Usage:  python surface_inspect.py
"""

import json
import os
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow import keras

CLASSES = ["crazing", "inclusion", "patches", "pitted", "scale", "scratch"]
SIDE = 40
N_TRAIN = 2560
BATCH = 32
EPOCHS = 18
RUN_DIR = tempfile.mkdtemp(prefix="surface_")


def render_patches(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(CLASSES), n)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    images = np.empty((n, SIDE, SIDE, 1), np.float32)
    for i, c in enumerate(labels):
        angle = rng.uniform(-0.4, 0.4) + 0.5 * c
        freq = 3.0 + 2.0 * c
        wave = np.sin(2 * np.pi * freq * (xx * np.cos(angle) + yy * np.sin(angle)))
        images[i, ..., 0] = 0.35 * wave + rng.normal(0, 0.45, (SIDE, SIDE))
    return images, labels.astype(np.int32)


def build_model():
    inp = keras.Input((SIDE, SIDE, 1))
    x = keras.layers.Conv2D(16, 3, padding="same", activation="relu")(inp)
    x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.Conv2D(32, 3, padding="same", activation="relu")(x)
    x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.Flatten()(x)
    x = keras.layers.Dense(160, activation="relu")(x)
    x = keras.layers.Dropout(0.3)(x)
    out = keras.layers.Dense(len(CLASSES))(x)
    return keras.Model(inp, out, name="surface_net")


class BatchLedger(keras.callbacks.Callback):
    """Batch level bookkeeping that the QA dashboard picks up."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.entries = []
        self.epoch = 0
        self.seen = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        self.seen += BATCH
        self.entries.append(
            {
                "epoch": self.epoch,
                "batch": int(batch),
                "images": self.seen,
                "loss": round(float(logs["loss"]), 5),
                "accuracy": round(float(logs["accuracy"]), 4),
                "stamp": round(time.time(), 2),
            }
        )
        with open(self.path, "w") as fh:
            json.dump({"classes": CLASSES, "entries": self.entries}, fh, indent=2)


class RollingBackup(keras.callbacks.Callback):
    """Keeps the last few weight sets so that a shift change can't lose work."""

    def __init__(self, folder, start_epoch=2, keep=3):
        super().__init__()
        self.folder = folder
        self.start_epoch = start_epoch
        self.keep = keep
        self.active = False
        self.slot = 0

    def on_epoch_begin(self, epoch, logs=None):
        self.active = epoch >= self.start_epoch

    def on_train_batch_end(self, batch, logs=None):
        if not self.active or batch % 16 != 0:
            return
        target = os.path.join(self.folder, f"backup_{self.slot % self.keep}.npz")
        arrays = {f"w{i}": w for i, w in enumerate(self.model.get_weights())}
        np.savez_compressed(target, **arrays)
        self.slot += 1


class WarmupThenDecay(keras.callbacks.Callback):
    def __init__(self, base):
        super().__init__()
        self.base = base

    def on_epoch_begin(self, epoch, logs=None):
        factor = (epoch + 1) / 2 if epoch < 2 else 0.85 ** (epoch - 1)
        self.model.optimizer.learning_rate = self.base * factor


def main():
    keras.utils.set_random_seed(11)
    x, y = render_patches(N_TRAIN, seed=1)
    vx, vy = render_patches(512, seed=2)

    train = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(N_TRAIN)
        .batch(BATCH, drop_remainder=True)
        .prefetch(2)
    )
    valid = tf.data.Dataset.from_tensor_slices((vx, vy)).batch(128)

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    started = time.time()
    history = model.fit(
        train,
        validation_data=valid,
        epochs=EPOCHS,
        verbose=2,
        callbacks=[
            WarmupThenDecay(1e-3),
            BatchLedger(os.path.join(RUN_DIR, "ledger.json")),
            RollingBackup(RUN_DIR),
        ],
    )
    print(
        "val accuracy %.3f in %.1f s" % (history.history["val_accuracy"][-1], time.time() - started)
    )


if __name__ == "__main__":
    main()
