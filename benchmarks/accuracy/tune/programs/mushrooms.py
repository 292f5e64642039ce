"""Which mushroom is it? Photos as a phone takes them, scaled down for a small network."""

import os

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
KINDS, PHOTOS, SIZE, BATCH = 6, 240, 64, 16


def take_photos(folder="photos"):
    rng = np.random.default_rng(1)
    os.makedirs(folder, exist_ok=True)
    yy, xx = np.mgrid[0:480, 0:640]
    for k in range(PHOTOS):
        kind = k % KINDS
        photo = rng.normal(90, 20, (30, 40, 3)).repeat(16, 0).repeat(16, 1)
        y, x = rng.integers(150, 330), rng.integers(200, 440)
        cap = ((yy - y) / (60 + 15 * kind)) ** 2 + ((xx - x) / 150) ** 2 < 1
        photo[cap] = [200 - 25 * kind, 60 + 20 * kind, 40 + 10 * kind]
        photo += rng.normal(0, 10, (480, 640, 1))
        jpeg = tf.io.encode_jpeg(np.clip(photo, 0, 255).astype("uint8"), quality=92)
        tf.io.write_file(f"{folder}/{kind}_{k:04d}.jpg", jpeg)
    return f"{folder}/*.jpg"


def load(path):
    name = tf.strings.split(path, os.sep)[-1]
    label = tf.strings.to_number(tf.strings.substr(name, 0, 1), tf.int32)
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.convert_image_dtype(image, tf.float32)
    return tf.image.resize(image, (SIZE, SIZE), antialias=True), label


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    return tf.image.random_brightness(image, 0.1), label


def build_model():
    return tf.keras.Sequential(
        [
            tf.keras.Input((SIZE, SIZE, 3)),
            tf.keras.layers.Conv2D(16, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(32, 3, activation="relu"),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(64, 3, activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dropout(0.3),
            tf.keras.layers.Dense(KINDS),
        ]
    )


files = tf.data.Dataset.list_files(take_photos(), shuffle=True, seed=3)
train_ds = (
    files.map(load, num_parallel_calls=AUTOTUNE)
    .map(augment, num_parallel_calls=AUTOTUNE)
    .shuffle(64)
    .batch(BATCH)
    .prefetch(AUTOTUNE)
)

model = build_model()
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train_ds, epochs=16, verbose=2)
model.save("mushrooms.keras")
