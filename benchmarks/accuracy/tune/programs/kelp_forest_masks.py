"""Kelp canopy segmentation on synthetic aerial tiles."""

import os
import tempfile
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class Cfg:
    tiles: int = 320
    raw: int = 160
    size: int = 48
    batch: int = 16
    epochs: int = 10
    lr: float = 2e-3
    seed: int = 5


def make_tiles(cfg):
    rng = np.random.default_rng(cfg.seed)
    yy, xx = np.mgrid[0 : cfg.raw, 0 : cfg.raw] / cfg.raw
    tiles = np.zeros((cfg.tiles, cfg.raw, cfg.raw, 3), "uint8")
    masks = np.zeros((cfg.tiles, cfg.raw, cfg.raw, 1), "uint8")
    for i in range(cfg.tiles):
        m = np.zeros((cfg.raw, cfg.raw), bool)
        for _ in range(rng.integers(2, 5)):
            cx, cy = rng.uniform(0.1, 0.9, 2)
            a, b = rng.uniform(0.05, 0.22, 2)
            m |= ((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2 < 1
        base = np.array([30, 70, 120]) + m[..., None] * np.array([40, 20, -70])
        glint = rng.normal(0, 22, size=(cfg.raw, cfg.raw, 1))
        tiles[i] = np.clip(base + glint, 0, 255)
        masks[i, ..., 0] = m
    return tiles, masks


def gaussian_kernel(radius, sigma):
    t = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    k = np.outer(t, t) / (t.sum() ** 2)
    return tf.constant(np.repeat(k[:, :, None, None], 3, axis=2), tf.float32)


KERNEL = gaussian_kernel(5, 2.2)


def remove_glint(tile, mask):
    """Flat-field the tile, suppress sun glint and bring it to model size."""
    x = tf.cast(tile, tf.float32)[None] / 255.0
    for _ in range(3):
        smooth = tf.nn.depthwise_conv2d(x, KERNEL, [1, 1, 1, 1], "SAME")
        x = tf.where(x > smooth + 0.06, smooth, x)
    x = (x - tf.reduce_mean(x)) / (tf.math.reduce_std(x) + 1e-3)
    x = tf.image.resize(x, [Cfg.size, Cfg.size], antialias=True)[0]
    m = tf.image.resize(tf.cast(mask, tf.float32), [Cfg.size, Cfg.size], antialias=True)
    return x, tf.cast(m > 0.5, tf.float32)


def random_flip(x, m):
    both = tf.concat([x, m], axis=-1)
    both = tf.image.random_flip_left_right(both)
    both = tf.image.random_flip_up_down(both)
    return both[..., :3], both[..., 3:]


def fixed_options():
    options = tf.data.Options()
    options.autotune.enabled = False
    return options


def build_dataset(tiles, masks, cfg, training):
    ds = tf.data.Dataset.from_tensor_slices((tiles, masks))
    ds = ds.map(remove_glint, num_parallel_calls=2)
    if training:
        ds = ds.shuffle(len(tiles), seed=cfg.seed)
        ds = ds.map(random_flip, num_parallel_calls=2)
    return ds.batch(cfg.batch).prefetch(2).with_options(fixed_options())


def small_unet(size):
    inp = keras.Input((size, size, 3))
    a = layers.Conv2D(12, 3, padding="same", activation="relu")(inp)
    b = layers.Conv2D(24, 3, strides=2, padding="same", activation="relu")(a)
    c = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(b)
    c = layers.Conv2D(32, 3, padding="same", activation="relu")(c)
    u = layers.Concatenate()([layers.UpSampling2D()(c), b])
    u = layers.Conv2D(24, 3, padding="same", activation="relu")(u)
    u = layers.Concatenate()([layers.UpSampling2D()(u), a])
    out = layers.Conv2D(1, 3, padding="same", activation="sigmoid")(u)
    return keras.Model(inp, out, name="kelp_unet")


def main():
    cfg = Cfg()
    keras.utils.set_random_seed(cfg.seed)
    tiles, masks = make_tiles(cfg)
    cut = int(0.85 * cfg.tiles)
    train = build_dataset(tiles[:cut], masks[:cut], cfg, True)
    val = build_dataset(tiles[cut:], masks[cut:], cfg, False)
    model = small_unet(cfg.size)
    model.compile(
        keras.optimizers.Adam(cfg.lr),
        "binary_crossentropy",
        metrics=[keras.metrics.BinaryIoU(target_class_ids=[1], name="iou")],
    )
    out = tempfile.mkdtemp()
    cbs = [
        keras.callbacks.CSVLogger(os.path.join(out, "kelp.csv")),
        keras.callbacks.ReduceLROnPlateau(patience=3, monitor="val_loss"),
    ]
    model.fit(train, validation_data=val, epochs=cfg.epochs, callbacks=cbs, verbose=2)
    print("canopy share of first tile:", float(model.predict(val.take(1), verbose=0)[0].mean()))


if __name__ == "__main__":
    main()
