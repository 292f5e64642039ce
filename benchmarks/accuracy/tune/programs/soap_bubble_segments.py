"""Segmenting soap films: small U-Net with own loop. Split before batching, as advised (I had skip() after batch() before)."""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SEED = 77
SIDE = 64
N = 420
VAL = int(0.2 * N)
BATCH = 24
EPOCHS = 5
tf.keras.utils.set_random_seed(SEED)


def films(n):
    rng = np.random.default_rng(SEED)
    g = np.linspace(-1, 1, SIDE, dtype=np.float32)
    yy, xx = np.meshgrid(g, g, indexing="ij")
    imgs = np.empty((n, SIDE, SIDE, 3), np.float32)
    masks = np.zeros((n, SIDE, SIDE), np.int32)
    for k in range(n):
        img = 0.1 * rng.standard_normal((SIDE, SIDE, 3), dtype=np.float32)
        for _ in range(rng.integers(1, 4)):
            cx, cy, r = rng.uniform(-0.6, 0.6), rng.uniform(-0.6, 0.6), rng.uniform(0.15, 0.45)
            d = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
            film, rim = d < r, np.abs(d - r) < 0.05
            img[film] += 0.3 * np.sin(12 * d[film] + rng.uniform(0, 6))[:, None]
            img[rim] += 0.6
            masks[k][film] = 1
            masks[k][rim] = 2
        imgs[k] = img
    return imgs, masks


def conv(x, f):
    for _ in range(2):
        x = layers.Conv2D(f, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
    return x


def unet():
    inp = tf.keras.Input((SIDE, SIDE, 3))
    skips, x = [], inp
    for f in (16, 32):
        x = conv(x, f)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = conv(x, 64)
    for f, s in zip((32, 16), reversed(skips)):
        x = layers.Conv2DTranspose(f, 2, strides=2)(x)
        x = conv(layers.Concatenate()([x, s]), f)
    return tf.keras.Model(inp, layers.Conv2D(3, 1)(x))


imgs, masks = films(N)
ds = tf.data.Dataset.from_tensor_slices((imgs, masks)).shuffle(
    N, seed=SEED, reshuffle_each_iteration=False
)
val_ds = ds.take(VAL).batch(42).cache().prefetch(1)
train_ds = (
    ds.skip(VAL)
    .cache()
    .shuffle(N - VAL, seed=SEED)
    .batch(BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)

model = unet()
optimizer = tf.keras.optimizers.Adam(2e-3)
scce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_loss = tf.keras.metrics.Mean()
val_loss = tf.keras.metrics.Mean()
val_iou = tf.keras.metrics.MeanIoU(3, sparse_y_pred=False)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = scce(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    train_loss.update_state(loss)


@tf.function
def val_step(x, y):
    logits = model(x, training=False)
    val_loss.update_state(scce(y, logits))
    val_iou.update_state(y, logits)


for epoch in range(EPOCHS):
    start = time.time()
    for m in (train_loss, val_loss, val_iou):
        m.reset_state()
    for x, y in train_ds:
        train_step(x, y)
    mid = time.time()
    for x, y in val_ds:
        val_step(x, y)
    print(
        "epoch %d  loss %.4f  val %.4f  iou %.3f   train %.1fs  val %.1fs"
        % (
            epoch + 1,
            train_loss.result(),
            val_loss.result(),
            val_iou.result(),
            mid - start,
            time.time() - mid,
        )
    )
