"""Grading of milled rice from JPEG snapshots of the chute, in portions so that I can look at the result in between."""

import os
import tempfile
from dataclasses import dataclass

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf

AUTO = tf.data.AUTOTUNE
GRADES = ["whole", "broken", "chalky", "husk"]


@dataclass
class Cfg:
    n_images: int = 1920
    side: int = 112
    net_side: int = 48
    batch: int = 32
    portion: int = 5  # batches between two looks
    passes: int = 2
    lr: float = 1e-3
    seed: int = 5


def snapshots(cfg):
    rng = np.random.default_rng(cfg.seed)
    y = rng.integers(0, 4, cfg.n_images).astype(np.int32)
    yy, xx = np.mgrid[0 : cfg.side, 0 : cfg.side].astype(np.float32) / cfg.side - 0.5
    jpgs = []
    for k in range(cfg.n_images):
        a, b = (0.42, 0.14) if y[k] != 1 else (0.2, 0.16)
        th = rng.uniform(0, 3.14)
        u, v = xx * np.cos(th) + yy * np.sin(th), yy * np.cos(th) - xx * np.sin(th)
        grain = ((u / a) ** 2 + (v / b) ** 2 < 1).astype(np.float32)
        tone = {0: 150, 1: 150, 2: 215, 3: 100}[int(y[k])]
        img = 40 + grain[..., None] * np.array([tone, tone, tone * 0.8], np.float32)
        img += rng.standard_normal((cfg.side, cfg.side, 1), dtype=np.float32) * 18
        jpgs.append(tf.io.encode_jpeg(np.clip(img, 0, 255).astype(np.uint8), quality=92).numpy())
    return jpgs, y


def load(jpg, label, side):
    img = tf.io.decode_jpeg(jpg, channels=3)
    img = tf.image.convert_image_dtype(img, tf.float32)
    img = tf.image.random_brightness(img, 0.1)
    img = tf.image.resize(img, (side, side), antialias=True)
    return tf.image.per_image_standardization(img), label


class Grader(tf.keras.Model):
    def __init__(self, n):
        super().__init__()
        self.blocks = [
            tf.keras.layers.Conv2D(f, 3, strides=s, padding="same", activation="relu")
            for f, s in ((24, 1), (32, 2), (48, 2), (64, 2))
        ]
        self.pool = tf.keras.layers.GlobalAveragePooling2D()
        self.out = tf.keras.layers.Dense(n)

    def call(self, x):
        for b in self.blocks:
            x = b(x)
        return self.out(self.pool(x))


def main():
    cfg = Cfg()
    tf.keras.utils.set_random_seed(cfg.seed)
    jpgs, y = snapshots(cfg)
    print(len(jpgs), "snapshots,", sum(map(len, jpgs)) // 1024, "KiB")

    raw = tf.data.Dataset.from_tensor_slices((jpgs, y))
    ds = raw.map(lambda j, l: load(j, l, cfg.net_side), num_parallel_calls=AUTO)
    ds = ds.batch(cfg.batch, drop_remainder=True).prefetch(2)

    model = Grader(len(GRADES))
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    opt = tf.keras.optimizers.Adam(cfg.lr)
    acc = tf.keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def step(x, t):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_fn(t, logits)
        opt.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        acc.update_state(t, logits)
        return loss

    n_portions = cfg.n_images // cfg.batch // cfg.portion
    for p in range(cfg.passes):
        for k in range(n_portions):
            part = ds.skip(k * cfg.portion).take(cfg.portion)
            for x, t in part:
                loss = step(x, t)
            print(f"pass {p} portion {k:2d}  loss {float(loss):.3f}  acc {float(acc.result()):.3f}")
            acc.reset_state()

    out = os.path.join(tempfile.mkdtemp(), "grader.weights.h5")
    model.save_weights(out)
    print("saved", os.path.getsize(out) // 1024, "KiB")


if __name__ == "__main__":
    main()
