"""Classify noisy photos of simple shapes; strong augmentation, Keras fit."""

import csv
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

AUTO = tf.data.AUTOTUNE
SIDE = 56
CROP = 48
CLASSES = ["disc", "square", "ring", "cross", "stripes"]


def draw(kind, rng):
    yy, xx = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    xx, yy = xx - rng.uniform(-0.3, 0.3), yy - rng.uniform(-0.3, 0.3)
    r = rng.uniform(0.3, 0.6)
    d = np.hypot(xx, yy)
    mask = {
        "disc": d < r,
        "square": np.maximum(abs(xx), abs(yy)) < r,
        "ring": abs(d - r) < 0.12,
        "cross": (np.minimum(abs(xx), abs(yy)) < 0.1) & (d < r),
        "stripes": (np.sin(xx * 14) > 0) & (d < r),
    }[kind]
    color, ground = rng.uniform(0, 255, size=(2, 3))
    img = np.where(mask[..., None], color, ground) + rng.normal(0, 12, size=(SIDE, SIDE, 3))
    return np.clip(img, 0, 255).astype(np.uint8)


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CLASSES), size=n)
    return np.stack([draw(CLASSES[k], rng) for k in y]), y.astype(np.int32)


def augment(img, label):
    img = tf.image.random_crop(img, (CROP, CROP, 3))
    img = tf.image.convert_image_dtype(img, tf.float32)
    img = tf.image.random_flip_left_right(img)
    img = tf.image.random_flip_up_down(img)
    img = tf.image.random_brightness(img, 0.2)
    img = tf.image.random_contrast(img, 0.7, 1.3)
    img = tf.image.random_saturation(img, 0.6, 1.4)
    y0, x0 = [tf.random.uniform([], 0, CROP - 12, tf.int32) for _ in range(2)]
    hole = tf.pad(
        tf.zeros((12, 12, 1)),
        [[y0, CROP - 12 - y0], [x0, CROP - 12 - x0], [0, 0]],
        constant_values=1.0,
    )
    return tf.clip_by_value(img * hole, 0.0, 1.0), label


def center(img, label):
    img = tf.image.central_crop(tf.image.convert_image_dtype(img, tf.float32), CROP / SIDE)
    return tf.ensure_shape(img, (CROP, CROP, 3)), label


def residual(x, filters, stride):
    skip = layers.Conv2D(filters, 1, strides=stride)(x)
    h = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    h = layers.ReLU()(layers.BatchNormalization()(h))
    h = layers.Conv2D(filters, 3, padding="same", use_bias=False)(h)
    return layers.ReLU()(layers.add([layers.BatchNormalization()(h), skip]))


def build():
    inp = keras.Input((CROP, CROP, 3))
    x = layers.Conv2D(24, 3, padding="same", activation="relu")(inp)
    for filters, stride in ((24, 2), (48, 2), (96, 2)):
        x = residual(x, filters, stride)
    x = layers.Dropout(0.2)(layers.GlobalAveragePooling2D()(x))
    return keras.Model(inp, layers.Dense(len(CLASSES), activation="softmax")(x))


class HistoryFile(keras.callbacks.Callback):
    def __init__(self, path):
        super().__init__()
        self.path = path

    def on_epoch_end(self, epoch, logs=None):
        with open(self.path, "a", newline="") as f:
            csv.writer(f).writerow([epoch] + [f"{v:.5f}" for v in (logs or {}).values()])


def main():
    keras.utils.set_random_seed(9)
    x, y = make_split(1920, 0)
    xv, yv = make_split(256, 1)
    train = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(1920, seed=9)
        .map(augment, num_parallel_calls=AUTO)
        .batch(32, drop_remainder=True)
        .prefetch(AUTO)
    )
    valid = (
        tf.data.Dataset.from_tensor_slices((xv, yv))
        .map(center, num_parallel_calls=AUTO)
        .batch(64)
        .cache()
        .prefetch(AUTO)
    )
    model = build()
    steps = len(train)
    rate = keras.optimizers.schedules.CosineDecay(3e-3, decay_steps=10 * steps)
    model.compile(
        keras.optimizers.SGD(rate, momentum=0.9, nesterov=True),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    folder = tempfile.mkdtemp()
    model.fit(
        train,
        validation_data=valid,
        epochs=10,
        verbose=2,
        callbacks=[
            HistoryFile(os.path.join(folder, "history.csv")),
            keras.callbacks.TerminateOnNaN(),
        ],
    )


if __name__ == "__main__":
    main()
