"""Segmentation of barnacles on ship hulls (dry dock photos), small U-Net, keras fit.

The photos are read and prepared once and then cached. First epoch is by far the
slowest and some later epochs take longer as well; is something wrong with my fit?
"""

import os
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SIZE = 64
BATCH = 16
EPOCHS = 9
tf.keras.utils.set_random_seed(31)


def draw_photo(rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    photo = np.full((SIZE, SIZE, 3), rng.uniform(60, 140, 3))
    photo += 20 * np.sin(yy / rng.uniform(5, 12))[..., None]
    mask = np.zeros((SIZE, SIZE), bool)
    for _ in range(rng.integers(3, 9)):
        cy, cx, r = rng.uniform(5, SIZE - 5), rng.uniform(5, SIZE - 5), rng.uniform(3, 7)
        d = np.hypot(yy - cy, xx - cx)
        mask |= d < r
        photo[d < r] += 70 * (1 - d[d < r] / r)[:, None] + 20
    photo += 12 * rng.standard_normal(photo.shape)
    return np.clip(photo, 0, 255).astype(np.uint8), mask.astype(np.uint8)[..., None]


def write_photos(folder, n, rng):
    for i in range(n):
        photo, mask = draw_photo(rng)
        tf.io.write_file(f"{folder}/{i:04d}_photo.png", tf.io.encode_png(photo))
        tf.io.write_file(f"{folder}/{i:04d}_mask.png", tf.io.encode_png(mask))


def read(path):
    photo = tf.io.decode_png(tf.io.read_file(path), channels=3)
    mask = tf.io.decode_png(
        tf.io.read_file(tf.strings.regex_replace(path, "_photo", "_mask")), channels=1
    )
    photo = tf.image.per_image_standardization(tf.cast(photo, tf.float32))
    return tf.ensure_shape(photo, (SIZE, SIZE, 3)), tf.ensure_shape(
        tf.cast(mask, tf.float32), (SIZE, SIZE, 1)
    )


def flip(photos, masks):
    if tf.random.uniform([]) > 0.5:
        photos, masks = tf.reverse(photos, [2]), tf.reverse(masks, [2])
    return photos, masks


def dataset(paths, train):
    ds = (
        tf.data.Dataset.from_tensor_slices(paths)
        .map(read, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()
    )
    if train:
        ds = ds.shuffle(len(paths))
    ds = ds.batch(BATCH)
    return (ds.map(flip) if train else ds).prefetch(tf.data.AUTOTUNE)


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return layers.Conv2D(filters, 3, padding="same", activation="relu")(x)


def unet():
    inp = tf.keras.Input((SIZE, SIZE, 3))
    a = block(inp, 12)
    b = block(layers.MaxPooling2D()(a), 24)
    c = block(layers.MaxPooling2D()(b), 48)
    x = block(layers.Concatenate()([layers.UpSampling2D()(c), b]), 24)
    x = block(layers.Concatenate()([layers.UpSampling2D()(x), a]), 12)
    return tf.keras.Model(inp, layers.Conv2D(1, 1)(x))


class EpochClock(tf.keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.t = time.time()

    def on_epoch_end(self, epoch, logs=None):
        print(
            "epoch %d: %.2f s" % (epoch + 1, time.time() - self.t),
            {k: round(float(v), 4) for k, v in (logs or {}).items()},
        )


folder = tempfile.mkdtemp(prefix="drydock")
write_photos(folder, 240, np.random.default_rng(31))
paths = sorted(f"{folder}/{f}" for f in os.listdir(folder) if f.endswith("_photo.png"))
train_ds, val_ds = dataset(paths[:192], True), dataset(paths[192:], False)

model = unet()
model.compile(
    tf.keras.optimizers.Adam(2e-3),
    tf.keras.losses.BinaryCrossentropy(from_logits=True),
    metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.0)],
)
model.fit(
    train_ds,
    epochs=EPOCHS,
    validation_data=val_ds,
    validation_freq=3,
    verbose=0,
    callbacks=[
        EpochClock(),
        tf.keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
        tf.keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=2),
    ],
)
print("validation:", [round(float(v), 4) for v in model.evaluate(val_ds, verbose=0)])
