"""Compress photographs of cowrie shells: convolutional autoencoder trained
with fit(), first the decoder on a frozen random encoder, then both with a
bigger batch.  The best weights go to a temporary folder.
"""

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

L = keras.layers


def shells(n, side, rng):
    yy, xx = np.mgrid[-1 : 1 : side * 1j, -1 : 1 : side * 1j].astype("float32")
    out = np.zeros((n, side, side, 1), "float32")
    for i in range(n):
        a, b = rng.uniform(0.5, 0.95), rng.uniform(0.3, 0.7)
        body = ((xx / b) ** 2 + (yy / a) ** 2 < 1).astype("float32")
        slit = np.abs(xx - 0.1 * np.sin(3 * yy)) < 0.06
        spots = 0.3 * np.sin(xx * rng.uniform(9, 25)) * np.sin(yy * rng.uniform(9, 25))
        out[i, :, :, 0] = body * (0.6 + spots) * np.where(slit, 0.2, 1.0)
    return out


def make_encoder(side, code):
    return keras.Sequential(
        [
            keras.Input((side, side, 1)),
            L.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            L.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            L.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
            L.Flatten(),
            L.Dense(code),
        ],
        name="encoder",
    )


def make_decoder(side, code):
    s = side // 8
    return keras.Sequential(
        [
            keras.Input((code,)),
            L.Dense(s * s * 48, activation="relu"),
            L.Reshape((s, s, 48)),
            L.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu"),
            L.Conv2DTranspose(16, 4, strides=2, padding="same", activation="relu"),
            L.Conv2DTranspose(1, 4, strides=2, padding="same", activation="sigmoid"),
        ],
        name="decoder",
    )


def pipeline(images, batch, training):
    ds = tf.data.Dataset.from_tensor_slices(images).cache()
    if training:
        ds = ds.shuffle(len(images), seed=5)
    ds = ds.batch(batch, drop_remainder=training)
    if training:
        ds = ds.map(tf.image.random_flip_left_right, tf.data.AUTOTUNE)
    ds = ds.map(lambda x: (x, x), tf.data.AUTOTUNE)
    return ds.prefetch(2)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--images", type=int, default=3072)
    p.add_argument("--code", type=int, default=24)
    a = p.parse_args()
    keras.utils.set_random_seed(5)
    imgs = shells(a.images + 128, 48, np.random.default_rng(5))
    train, held = imgs[:-128], imgs[-128:]
    folder = tempfile.mkdtemp()
    enc, dec = make_encoder(48, a.code), make_decoder(48, a.code)
    inp = keras.Input((48, 48, 1))
    model = keras.Model(inp, dec(enc(inp)))
    phases = [("decoder only", False, 64, 2e-3, 4), ("both, larger batch", True, 128, 1e-3, 9)]
    for name, thaw, batch, lr, epochs in phases:
        enc.trainable = thaw
        model.compile(keras.optimizers.Adam(lr), "mse")
        hist = model.fit(
            pipeline(train, batch, True),
            validation_data=pipeline(held, 128, False),
            epochs=epochs,
            verbose=0,
            callbacks=[
                keras.callbacks.EarlyStopping("val_loss", patience=2, restore_best_weights=True)
            ],
        )
        print(
            f"{name}: {len(hist.history['loss'])} epochs, held out {min(hist.history['val_loss']):.5f}"
        )
    where = os.path.join(folder, "cowrie.weights.h5")
    model.save_weights(where)
    print("saved", os.path.getsize(where) // 1024, "kB")


if __name__ == "__main__":
    main()
