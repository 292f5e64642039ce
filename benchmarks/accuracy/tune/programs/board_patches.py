"""Tissue patches with all that Keras offers for long runs: TensorBoard, best model, backup."""

import pathlib

import numpy as np
import tensorflow as tf

OUT = pathlib.Path("run")


class Patches(tf.keras.utils.PyDataset):
    """Turns and mirrors patches that are in memory."""

    def __init__(self, x, y, batch, augment, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch, self.augment = x, y, batch, augment
        self.rng = np.random.default_rng(0)
        self.order = np.arange(len(x))

    def __len__(self):
        return len(self.x) // self.batch

    def __getitem__(self, k):
        rows = self.order[k * self.batch : (k + 1) * self.batch]
        x = self.x[rows]
        if self.augment:
            x = np.rot90(x, self.rng.integers(0, 4), axes=(1, 2))
            x = x[:, :, ::-1] if self.rng.random() < 0.5 else x
        return np.ascontiguousarray(x), self.y[rows]

    def on_epoch_end(self):
        if self.augment:
            self.rng.shuffle(self.order)


def tissue(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n).astype("float32")
    x = rng.normal(0.6, 0.15, (n, 48, 48, 3)).astype("float32")
    for k in range(n):
        for r, c in rng.integers(4, 40, (10 + int(15 * y[k]), 2)):
            x[k, r : r + 4, c : c + 4, :2] *= 0.6
    return x, y


def classifier():
    model = tf.keras.models.Sequential(name="tissue")
    model.add(tf.keras.layers.Input((48, 48, 3)))
    for filters in (16, 24, 32):
        model.add(tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False))
        model.add(tf.keras.layers.BatchNormalization())
        model.add(tf.keras.layers.ReLU())
        model.add(tf.keras.layers.MaxPooling2D())
    model.add(tf.keras.layers.GlobalAveragePooling2D())
    model.add(tf.keras.layers.Dense(1, activation="sigmoid"))
    return model


train = Patches(*tissue(1500, 1), batch=24, augment=True)
valid = Patches(*tissue(240, 2), batch=24, augment=False)
model = classifier()
model.compile(
    tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(2e-3, 900)),
    "binary_crossentropy",
    metrics=["accuracy"],
)
callbacks = [
    tf.keras.callbacks.TensorBoard(OUT / "board", update_freq=50),
    tf.keras.callbacks.ModelCheckpoint(OUT / "best.keras", save_best_only=True),
    tf.keras.callbacks.BackupAndRestore(OUT / "backup"),
    tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: print("epoch", e, "done")),
]
model.fit(train, validation_data=valid, epochs=15, callbacks=callbacks, verbose=2)
