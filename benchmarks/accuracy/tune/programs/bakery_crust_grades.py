"""Grade loaves from crust photos stored as JPEG records; decoded once, then kept in memory."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

GRADES = 4
RAW, NET = 256, 48


def photo(grade, rng):
    yy, xx = np.mgrid[0:RAW, 0:RAW] / RAW - 0.5
    brown = 200 - 35 * grade
    blotch = np.sin(xx * rng.uniform(10, 30)) * np.cos(yy * rng.uniform(10, 30)) * 12
    base = brown + blotch + rng.normal(scale=14, size=(RAW, RAW))
    img = np.stack([base, base * 0.75, base * 0.5], -1)
    img[(xx**2 + (yy * 1.4) ** 2) > 0.2] = 240
    return np.clip(img, 0, 255).astype(np.uint8)


def write_records(path, n, seed):
    rng = np.random.default_rng(seed)
    with tf.io.TFRecordWriter(path) as w:
        for _ in range(n):
            g = int(rng.integers(GRADES))
            jpeg = tf.io.encode_jpeg(photo(g, rng), quality=90).numpy()
            w.write(
                tf.train.Example(
                    features=tf.train.Features(
                        feature={
                            "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[jpeg])),
                            "grade": tf.train.Feature(int64_list=tf.train.Int64List(value=[g])),
                        }
                    )
                ).SerializeToString()
            )


def decode(record):
    ex = tf.io.parse_single_example(
        record,
        {
            "image": tf.io.FixedLenFeature([], tf.string),
            "grade": tf.io.FixedLenFeature([], tf.int64),
        },
    )
    img = tf.io.decode_jpeg(ex["image"], channels=3)
    img = tf.image.resize(img, (NET, NET), antialias=True) / 255.0
    return img, ex["grade"]


def augment(img, grade):
    img = tf.image.random_flip_left_right(img)
    return tf.image.random_brightness(img, 0.05), grade


def pipeline(path, batch, train):
    ds = tf.data.TFRecordDataset(path).map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if train:
        ds = ds.shuffle(1200).map(augment, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(batch).prefetch(tf.data.AUTOTUNE)


def build():
    inp = keras.Input((NET, NET, 3))
    x = inp
    for f in (24, 48, 64):
        x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.MaxPooling2D()(layers.ReLU()(x))
    x = layers.GlobalAveragePooling2D()(x)
    return keras.Model(inp, layers.Dense(GRADES)(layers.Dropout(0.2)(x)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--loaves", type=int, default=960)
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--batch", type=int, default=48)
    a = p.parse_args()
    keras.utils.set_random_seed(9)
    with tempfile.TemporaryDirectory() as d:
        tr, va = os.path.join(d, "train.tfrecord"), os.path.join(d, "valid.tfrecord")
        write_records(tr, a.loaves, 1)
        write_records(va, a.loaves // 6, 2)
        model = build()
        model.compile(
            keras.optimizers.Adam(2e-3),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        best = keras.callbacks.ModelCheckpoint(
            os.path.join(d, "best.weights.h5"),
            save_best_only=True,
            save_weights_only=True,
            monitor="val_accuracy",
        )
        model.fit(
            pipeline(tr, a.batch, True),
            validation_data=pipeline(va, a.batch, False),
            epochs=a.epochs,
            callbacks=[best],
            verbose=2,
        )


if __name__ == "__main__":
    main()
