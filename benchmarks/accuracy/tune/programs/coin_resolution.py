"""Recognizes coins; small pictures first, then larger ones (progressive resizing)."""

import keras
import numpy as np
from keras import layers

COINS, BATCH = 5, 32


def photograph(n, side, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:side, 0:side] / side - 0.5
    y = rng.integers(0, COINS, n)
    center = rng.uniform(-0.12, 0.12, (n, 2, 1, 1))
    r = np.hypot(yy - center[:, 0], xx - center[:, 1])
    ridges = np.cos(np.arctan2(yy, xx) * (6 + 3 * y[:, None, None]))
    disc = r < (0.2 + 0.03 * y[:, None, None])
    gray = disc * (0.6 + 0.2 * ridges * (r > 0.15)) + rng.normal(0, 0.1, r.shape)
    return gray[..., None].astype("float32"), y


def residual(x, filters):
    skip = layers.Conv2D(filters, 1)(x)
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(filters, 3, padding="same")(x)
    return layers.ReLU()(layers.add([x, skip]))


inputs = keras.Input((None, None, 1))
x = layers.RandomFlip()(inputs)
x = layers.Conv2D(12, 3, padding="same", activation="relu")(x)
for filters in (16, 24, 32):
    x = layers.MaxPooling2D()(residual(x, filters))
x = layers.GlobalAveragePooling2D()(x)
model = keras.Model(inputs, layers.Dense(COINS)(x))
model.compile(
    keras.optimizers.Adam(1e-3),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
epoch = 0
for side, epochs in ((24, 6), (32, 5), (48, 4)):
    x, y = photograph(1280, side, seed=side)
    test = photograph(256, side, seed=1)
    model.fit(
        x,
        y,
        batch_size=BATCH,
        initial_epoch=epoch,
        epochs=epoch + epochs,
        validation_data=test,
        verbose=2,
    )
    epoch += epochs
