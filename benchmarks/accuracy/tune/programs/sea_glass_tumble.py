"""Origin of sea glass (bottle, window, insulator, ...) from beach photographs.

The photographs are few, so every epoch sees them turned, sheared, relit and
scratched afresh.  The weights are kept after every epoch.
"""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SEED = 44
SIZE = 48
ORIGINS = 7
N = 1536
BATCH = 48
EPOCHS = 4

keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def collect(n):
    yy, xx = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j].astype("float32")
    hues = rng.uniform(0.2, 1.0, (ORIGINS, 3))
    images = np.empty((n, SIZE, SIZE, 3), np.uint8)
    origin = rng.integers(0, ORIGINS, n)
    for i, o in enumerate(origin):
        ang = np.arctan2(yy, xx)
        edge = 0.6 + 0.12 * np.cos((o + 2) * ang + rng.uniform(0, 6))
        inside = 1 / (1 + np.exp(12 * (np.hypot(xx, yy) - edge)))
        body = inside[..., None] * hues[o] * rng.uniform(0.6, 1.0)
        noise = rng.normal(0, 0.06, (SIZE, SIZE, 3))
        images[i] = np.clip((body + 0.15 + noise) * 200, 0, 255)
    return images, origin.astype("int32")


def augment(image, origin, seed):
    x = tf.cast(image, tf.float32) / 255.0
    r = tf.random.stateless_uniform((8,), seed)
    x = tf.image.stateless_random_flip_left_right(x, seed)
    x = tf.image.rot90(x, tf.cast(r[0] * 4, tf.int32))
    angle = (r[1] - 0.5) * 0.7
    shear = (r[2] - 0.5) * 0.3
    zoom = 0.85 + 0.3 * r[3]
    c, s = tf.cos(angle) * zoom, tf.sin(angle) * zoom
    mid = (SIZE - 1) / 2
    row = tf.stack(
        [c, -s + shear, mid - c * mid - (-s + shear) * mid, s, c, mid - s * mid - c * mid, 0.0, 0.0]
    )
    x = tf.raw_ops.ImageProjectiveTransformV3(
        images=x[None],
        transforms=row[None],
        output_shape=[SIZE, SIZE],
        fill_value=0.0,
        interpolation="BILINEAR",
        fill_mode="REFLECT",
    )[0]
    x = tf.image.adjust_hue(x, (r[4] - 0.5) * 0.06)
    x = tf.image.adjust_contrast(x, 0.7 + 0.6 * r[5])
    x += (r[6] - 0.5) * 0.2
    scratch = tf.random.stateless_normal((SIZE, SIZE, 1), seed, stddev=0.05)
    return tf.clip_by_value(x + scratch, 0.0, 1.0), origin


images, origin = collect(N)
counter = tf.data.Dataset.counter().map(lambda i: tf.stack([i, SEED]))
train = tf.data.Dataset.from_tensor_slices((images, origin)).shuffle(N, seed=SEED).repeat()
train = (
    tf.data.Dataset.zip((train, counter))
    .map(lambda pair, seed: augment(*pair, seed), num_parallel_calls=tf.data.AUTOTUNE)
    .batch(BATCH)
    .prefetch(tf.data.AUTOTUNE)
)


def inverted(x, width, stride):
    skip = x
    y = layers.Conv2D(width * 3, 1, use_bias=False)(x)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU(6.0)(y)
    y = layers.Conv2D(width, 3, strides=stride, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    return layers.add([y, skip]) if skip.shape == y.shape else y


inp = keras.Input((SIZE, SIZE, 3))
x = layers.Conv2D(24, 3, strides=2, padding="same")(inp)
for width, stride in ((24, 1), (48, 2), (48, 1), (96, 2), (96, 1)):
    x = inverted(x, width, stride)
x = layers.GlobalAveragePooling2D()(x)
model = keras.Model(inp, layers.Dense(ORIGINS)(x))
model.compile(
    optimizer=keras.optimizers.Adam(1.5e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

with tempfile.TemporaryDirectory() as keep:
    model.fit(
        train,
        steps_per_epoch=N // BATCH,
        epochs=EPOCHS,
        callbacks=[
            keras.callbacks.ModelCheckpoint(
                os.path.join(keep, "glass_{epoch:02d}.weights.h5"), save_weights_only=True
            )
        ],
        verbose=2,
    )
    print(sorted(os.listdir(keep)))
