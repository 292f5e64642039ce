"""Segment volcanic ash layers in lake-core scans. Head first with the encoder frozen, then everything."""

from dataclasses import dataclass
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class Plan:
    scans: int = 480
    size: int = 64
    batch: int = 24
    head_epochs: int = 4
    full_epochs: int = 5
    seed: int = 19


def core_scans(plan, rng):
    n, s = plan.scans, plan.size
    depth = np.arange(s)[None, :, None]
    x = 0.4 + 0.1 * np.sin(depth / 5.0 + rng.uniform(0, 6, (n, 1, 1)))
    x = np.repeat(x, s, axis=2) + rng.normal(0, 0.08, (n, s, s))
    mask = np.zeros((n, s, s))
    for _ in range(2):
        centre = rng.uniform(6, s - 6, (n, 1, 1))
        tilt = rng.uniform(-0.15, 0.15, (n, 1, 1)) * np.arange(s)[None, None, :]
        thick = rng.uniform(1.5, 4.0, (n, 1, 1))
        mask = np.maximum(mask, np.abs(depth - centre - tilt) < thick)
    x = x - 0.25 * mask * rng.uniform(0.5, 1.0, (n, 1, 1))
    return x[..., None].astype("float32"), mask[..., None].astype("float32")


def conv(h, width):
    h = layers.Conv2D(width, 3, padding="same", use_bias=False)(h)
    h = layers.BatchNormalization(momentum=0.9)(h)
    return layers.ReLU()(h)


def encoder(size):
    inp = keras.Input((size, size, 1))
    a = conv(inp, 16)
    b = conv(layers.MaxPool2D()(a), 32)
    c = conv(conv(layers.MaxPool2D()(b), 64), 64)
    return keras.Model(inp, [a, b, c], name="encoder")


def unet(enc, size):
    inp = keras.Input((size, size, 1))
    a, b, c = enc(inp)
    u = conv(layers.Concatenate()([layers.UpSampling2D()(c), b]), 32)
    u = conv(layers.Concatenate()([layers.UpSampling2D()(u), a]), 16)
    return keras.Model(inp, layers.Conv2D(1, 1)(u))


def dice_bce(y, logit):
    bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logit)
    p = tf.sigmoid(logit)
    dice = 1 - (2 * tf.reduce_sum(p * y, [1, 2, 3]) + 1) / (tf.reduce_sum(p + y, [1, 2, 3]) + 1)
    return tf.reduce_mean(bce, [1, 2, 3]) + dice


def flip(x, y):
    both = tf.concat([x, y], -1)
    both = tf.image.random_flip_left_right(both)
    return both[..., :1], both[..., 1:]


def main():
    plan = Plan()
    keras.utils.set_random_seed(plan.seed)
    rng = np.random.default_rng(plan.seed)
    x, y = core_scans(plan, rng)
    cut = plan.scans - 72
    train = (
        tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
        .cache()
        .shuffle(cut)
        .batch(plan.batch)
        .map(flip, num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(2)
    )
    val = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:])).batch(36).cache()
    enc = encoder(plan.size)
    model = unet(enc, plan.size)
    out = tempfile.mkdtemp(prefix="tephra_")
    began = time.time()
    for phase, epochs, lr in (("head", plan.head_epochs, 3e-3), ("full", plan.full_epochs, 6e-4)):
        enc.trainable = phase == "full"
        model.compile(keras.optimizers.Adam(lr), dice_bce)
        best = keras.callbacks.ModelCheckpoint(
            os.path.join(out, phase + ".weights.h5"), save_best_only=True, save_weights_only=True
        )
        h = model.fit(train, validation_data=val, epochs=epochs, verbose=0, callbacks=[best])
        for e, (l, v) in enumerate(zip(h.history["loss"], h.history["val_loss"])):
            print(f"{phase} {e + 1}: {l:.3f} / {v:.3f}")
    print(f"training took {time.time() - began:.2f} s")


if __name__ == "__main__":
    main()
