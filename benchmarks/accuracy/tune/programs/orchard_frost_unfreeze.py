"""Frost warnings from thermal frames: head first, then the whole encoder is tuned."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIDE, BATCH = 40, 64


def frames(n, rng):
    low = rng.normal(size=(n, 5, 5, 1)).astype(np.float32)
    x = tf.image.resize(low, (SIDE, SIDE), "bicubic").numpy()
    x += rng.normal(scale=0.3, size=x.shape).astype(np.float32)
    cold = low.min(axis=(1, 2, 3))
    return x, (cold < np.median(cold)).astype(np.float32)


def make_encoder():
    inp = keras.Input((SIDE, SIDE, 1))
    x = inp
    for f in (32, 64, 64):
        x = layers.Conv2D(f, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling2D()(x)
    return keras.Model(inp, layers.Flatten()(x), name="encoder")


def make_decoder():
    return keras.Sequential(
        [
            layers.Dense(5 * 5 * 32, activation="relu"),
            layers.Reshape((5, 5, 32)),
            layers.Conv2DTranspose(32, 3, 2, "same", activation="relu"),
            layers.Conv2DTranspose(16, 3, 2, "same", activation="relu"),
            layers.Conv2DTranspose(1, 3, 2, "same"),
        ]
    )


def jitter(x, y):
    x = tf.image.random_flip_left_right(tf.image.random_flip_up_down(x))
    return x + tf.random.normal(tf.shape(x), stddev=0.1), y


def as_dataset(x, y, shuffle, augment=False):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if shuffle:
        ds = ds.shuffle(len(x))
    if augment:
        ds = ds.map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(BATCH, drop_remainder=True).prefetch(2)


def main():
    keras.utils.set_random_seed(44)
    rng = np.random.default_rng(44)
    x_all, _ = frames(2560, rng)
    x, y = frames(2560, rng)
    xv, yv = frames(512, rng)
    strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    with strategy.scope():
        encoder = make_encoder()
        auto = keras.Sequential([encoder, make_decoder()])
        auto.compile(keras.optimizers.Adam(1e-3), "mse")
    print("pretraining")
    auto.fit(as_dataset(x_all, x_all, True), epochs=2, verbose=2)

    train, valid = as_dataset(x, y, True, True), as_dataset(xv, yv, False)
    with strategy.scope():
        encoder.trainable = False
        clf = keras.Sequential(
            [encoder, layers.Dense(64, activation="relu"), layers.Dropout(0.3), layers.Dense(1)]
        )
        bce = keras.losses.BinaryCrossentropy(from_logits=True)
        clf.compile(
            keras.optimizers.Adam(1e-3), bce, metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)]
        )
    print("head only")
    clf.fit(train, validation_data=valid, epochs=4, verbose=2)

    with strategy.scope():
        encoder.trainable = True
        clf.compile(
            keras.optimizers.Adam(2e-4), bce, metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)]
        )
    print("whole network")
    clf.fit(train, validation_data=valid, epochs=6, verbose=2)


if __name__ == "__main__":
    main()
