"""Nucleus segmentation with a small U-Net.

Slides are kept as PNG strings (as they come out of the annotation tool),
decoded, stain-normalised and scaled down for training.
"""

import argparse
import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

RAW, SIZE = 448, 64


def render_slides(count, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:RAW:4, 0:RAW:4].astype(np.float32)
    images, masks = [], []
    for _ in range(count):
        mask = np.zeros(yy.shape, bool)
        for _ in range(rng.integers(4, 12)):
            cy, cx = rng.uniform(0, RAW, 2)
            a, b = rng.uniform(14, 48, 2)
            mask |= ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1.0
        img = np.where(mask[..., None], (110, 60, 140), (220, 190, 210)).astype(np.float32)
        img = img + rng.normal(0, 12, img.shape) + rng.normal(0, 10, 3)
        img = np.clip(img, 0, 255).astype(np.uint8).repeat(4, 0).repeat(4, 1)
        full = mask.repeat(4, 0).repeat(4, 1)[..., None].astype(np.uint8) * 255
        images.append(tf.io.encode_png(img, compression=1).numpy())
        masks.append(tf.io.encode_png(full, compression=1).numpy())
    return images, masks


def load_example(image_png, mask_png):
    image = tf.cast(tf.io.decode_png(image_png, 3), tf.float32)
    density = -tf.math.log((image + 1.0) / 256.0)
    mean, var = tf.nn.moments(density, axes=[0, 1])
    density = (density - mean) / tf.sqrt(var + 1e-4)
    density = tf.image.resize(density, (SIZE, SIZE), method="area")
    mask = tf.image.resize(tf.io.decode_png(mask_png, 1), (SIZE, SIZE), method="nearest")
    return tf.ensure_shape(density, (SIZE, SIZE, 3)), tf.cast(mask > 0, tf.float32)


def flip(images, masks):
    both = tf.concat([images, masks], -1)
    both = tf.image.random_flip_up_down(tf.image.random_flip_left_right(both))
    return both[..., :3], both[..., 3:]


def make_datasets(args):
    images, masks = render_slides(args.slides + args.val_slides, args.seed)
    n = args.slides
    train = (
        tf.data.Dataset.from_tensor_slices((images[:n], masks[:n]))
        .map(load_example, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()
        .shuffle(n, seed=args.seed)
        .batch(args.batch, drop_remainder=True)
        .map(flip, num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
    )
    val = (
        tf.data.Dataset.from_tensor_slices((images[n:], masks[n:]))
        .map(load_example, num_parallel_calls=tf.data.AUTOTUNE)
        .batch(args.batch, drop_remainder=True)
        .cache()
        .prefetch(tf.data.AUTOTUNE)
    )
    return train, val


def build_unet(width=12):
    inp = keras.Input((SIZE, SIZE, 3))

    def double(x, w):
        for _ in range(2):
            x = layers.Conv2D(w, 3, padding="same", use_bias=False)(x)
            x = layers.BatchNormalization()(x)
            x = layers.Activation("relu")(x)
        return x

    a = double(inp, width)
    b = double(layers.MaxPooling2D()(a), width * 2)
    c = double(layers.MaxPooling2D()(b), width * 4)
    d = double(layers.concatenate([layers.UpSampling2D()(c), b]), width * 2)
    e = double(layers.concatenate([layers.UpSampling2D()(d), a]), width)
    return keras.Model(inp, layers.Conv2D(1, 1)(e))


def dice_bce(y_true, logits):
    bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y_true, logits))
    prob = tf.sigmoid(logits)
    inter = tf.reduce_sum(prob * y_true, axis=(1, 2, 3))
    total = tf.reduce_sum(prob + y_true, axis=(1, 2, 3))
    return bce + 1.0 - tf.reduce_mean((2.0 * inter + 1.0) / (total + 1.0))


class EpochReport(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.started = time.time()

    def on_epoch_end(self, epoch, logs=None):
        seconds = time.time() - self.started
        print(
            f"epoch {epoch + 1:2d}  loss {logs['loss']:.4f}  val_loss {logs['val_loss']:.4f}"
            f"  val_iou {logs['val_iou']:.3f}  {seconds:.1f}s",
            flush=True,
        )


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--slides", type=int, default=384)
    p.add_argument("--val-slides", type=int, default=48)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--accumulate", type=int, default=4)
    p.add_argument("--epochs", type=int, default=7)
    p.add_argument("--seed", type=int, default=17)
    args = p.parse_args()
    keras.utils.set_random_seed(args.seed)
    out = tempfile.mkdtemp(prefix="nuclei_")
    train, val = make_datasets(args)

    model = build_unet()
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3, gradient_accumulation_steps=args.accumulate),
        loss=dice_bce,
        metrics=[keras.metrics.BinaryIoU(target_class_ids=[1], threshold=0.0, name="iou")],
        jit_compile=False,
    )
    model.fit(
        train,
        validation_data=val,
        epochs=args.epochs,
        verbose=0,
        callbacks=[
            EpochReport(),
            keras.callbacks.ReduceLROnPlateau(patience=3),
            keras.callbacks.ModelCheckpoint(
                os.path.join(out, "unet.weights.h5"),
                monitor="val_iou",
                mode="max",
                save_best_only=True,
                save_weights_only=True,
            ),
        ],
    )


if __name__ == "__main__":
    main()
