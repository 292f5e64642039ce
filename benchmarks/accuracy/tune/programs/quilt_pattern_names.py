"""Name the traditional block of a quilt from a thumbnail; plain Keras fit."""

import os
import tempfile

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

BLOCKS = ["nine patch", "flying geese", "log cabin", "pinwheel", "bear paw"]
SIDE = 28


def block(kind, rng):
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    u, v = x / SIDE, y / SIDE
    if kind == 0:
        img = ((u * 3).astype(int) + (v * 3).astype(int)) % 2
    elif kind == 1:
        img = (u * 4) % 1 > np.abs((v * 2) % 1 - 0.5) * 2
    elif kind == 2:
        img = (np.maximum(np.abs(u - 0.5), np.abs(v - 0.5)) * 10).astype(int) % 2
    elif kind == 3:
        img = np.sign(u - 0.5) * np.sign(v - 0.5) * (u - v) > 0
    else:
        img = (u + v > 0.9) & ((u * 6).astype(int) % 2 == 0)
    img = img.astype(np.float32)
    colours = rng.uniform(0, 1, (2, 3))
    rgb = img[..., None] * colours[0] + (1 - img[..., None]) * colours[1]
    return rgb + rng.normal(scale=0.35, size=rgb.shape)


def make_data(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(BLOCKS), n)
    images = np.stack([block(k, rng) for k in labels]).astype("float32")
    return images, labels


def build_model():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 3)),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(768, activation="relu"),
            layers.Dropout(0.4),
            layers.Dense(len(BLOCKS), activation="softmax"),
        ]
    )


def main():
    keras.utils.set_random_seed(5)
    x, y = make_data(6000, 1)
    xv, yv = make_data(600, 2)
    model = build_model()
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    with tempfile.TemporaryDirectory() as out:
        callbacks = [
            keras.callbacks.ModelCheckpoint(
                os.path.join(out, "quilt-{epoch:02d}.keras"), save_freq=12
            ),
            keras.callbacks.ReduceLROnPlateau(patience=2),
            keras.callbacks.CSVLogger(os.path.join(out, "log.csv")),
        ]
        model.fit(
            x, y, batch_size=64, epochs=6, validation_data=(xv, yv), callbacks=callbacks, verbose=2
        )
        print("files:", sorted(os.listdir(out)))
    print("validation:", model.evaluate(xv, yv, verbose=0))


if __name__ == "__main__":
    main()
