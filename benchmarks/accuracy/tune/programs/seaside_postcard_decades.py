"""Dates scanned seaside postcards to a decade; JPEGs on disk, tf.data, Keras fit."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf

SIDE = 48
DECADES = 6


def print_card(rng, decade, size):
    h, w = size
    yy, xx = np.mgrid[0:h, 0:w]
    horizon = h * rng.uniform(0.4, 0.6)
    sky = np.array([120 + 20 * decade, 160, 230 - 10 * decade])
    sea = np.array([30, 90 + 12 * decade, 140])
    img = np.where((yy < horizon)[..., None], sky, sea).astype("float32")
    stripes = np.sin(xx / w * 20 * (1 + decade / 2)) > 0.6
    img[stripes & (yy > 0.75 * h)] = [230, 60 + 20 * decade, 60]
    img += rng.normal(0, 25 - 3 * decade, (h, w, 1))
    return np.clip(img, 0, 255).astype("uint8")


def scan_box(folder, n, seed):
    rng = np.random.default_rng(seed)
    paths, labels = [], []
    for i in range(n):
        decade = int(rng.integers(DECADES))
        size = (int(rng.integers(380, 460)), int(rng.integers(560, 680)))
        path = os.path.join(folder, f"card_{seed}_{i:04d}.jpg")
        tf.io.write_file(path, tf.io.encode_jpeg(print_card(rng, decade, size), quality=88))
        paths.append(path)
        labels.append(decade)
    return paths, labels


def load(path, label):
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    img = tf.image.resize(img, (SIDE, SIDE), antialias=True)
    return tf.cast(tf.round(img), tf.uint8), label


def jitter(img, label):
    img = tf.cast(img, tf.float32) / 255.0
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_brightness(img, 0.1)
    return img, label


def plain(img, label):
    return tf.cast(img, tf.float32) / 255.0, label


def pipeline(paths, labels, batch, training):
    ds = tf.data.Dataset.from_tensor_slices((paths, labels))
    ds = ds.map(load, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(len(paths))
    ds = ds.batch(batch)
    ds = ds.map(jitter if training else plain, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)


def build():
    L = tf.keras.layers
    return tf.keras.Sequential(
        [
            tf.keras.Input((SIDE, SIDE, 3)),
            L.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
            L.BatchNormalization(momentum=0.9),
            L.Conv2D(48, 3, padding="same", activation="relu"),
            L.BatchNormalization(momentum=0.9),
            L.MaxPooling2D(),
            L.Conv2D(64, 3, padding="same", activation="relu"),
            L.GlobalAveragePooling2D(),
            L.Dropout(0.3),
            L.Dense(DECADES),
        ]
    )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cards", type=int, default=1100)
    ap.add_argument("--epochs", type=int, default=9)
    ap.add_argument("--batch", type=int, default=32)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(12)

    with tempfile.TemporaryDirectory() as tmp:
        train = pipeline(*scan_box(tmp, args.cards, 0), args.batch, True)
        valid = pipeline(*scan_box(tmp, args.cards // 8, 1), args.batch, False)
        model = build()
        model.compile(
            "adam",
            tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        callbacks = [
            tf.keras.callbacks.ModelCheckpoint(
                os.path.join(tmp, "best.weights.h5"), save_weights_only=True, save_best_only=True
            ),
            tf.keras.callbacks.CSVLogger(os.path.join(tmp, "log.csv")),
            tf.keras.callbacks.ReduceLROnPlateau(patience=3),
        ]
        model.fit(train, validation_data=valid, epochs=args.epochs, callbacks=callbacks, verbose=2)
        model.load_weights(os.path.join(tmp, "best.weights.h5"))
        print("accuracy", model.evaluate(valid, verbose=0)[1])


if __name__ == "__main__":
    main()
