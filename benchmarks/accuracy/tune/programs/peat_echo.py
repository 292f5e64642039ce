"""Classify layers of a bog from ground radar echoes (Keras, tf.data)."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras


@dataclass
class Cfg:
    traces: int = 1600
    samples: int = 2048
    classes: int = 5
    batch: int = 64
    epochs: int = 8
    seed: int = 11


def radar_traces(cfg):
    rng = np.random.default_rng(cfg.seed)
    t = np.arange(cfg.samples) / cfg.samples
    y = rng.integers(0, cfg.classes, cfg.traces)
    x = np.zeros((cfg.traces, cfg.samples), np.float32)
    for i, c in enumerate(y):
        for k in range(3):
            c0 = rng.uniform(0.15, 0.85)
            freq = 60 + 35 * c + rng.normal(0, 6)
            x[i] += np.exp(-(((t - c0) / 0.05) ** 2)) * np.sin(2 * np.pi * freq * t)
    x += rng.normal(0, 0.3, x.shape)
    return x.astype(np.float32), y.astype(np.int32)


def gain_correct(x):
    """Divide by the running envelope, as the instrument's manual says."""
    env = tf.nn.avg_pool1d(tf.abs(x)[None, :, None], 65, 1, "SAME")[0, :, 0]
    return x / (env + 0.05)


def to_picture(trace, label):
    trace = gain_correct(trace)
    views = []
    for width in (64, 128, 256):
        spec = tf.abs(tf.signal.stft(trace, width, 16, fft_length=512, pad_end=True))
        spec = tf.math.log1p(spec[:, :128])
        views.append(tf.image.resize(spec[..., None], (32, 32), antialias=True))
    pic = tf.concat(views, -1)
    pic = (pic - tf.reduce_mean(pic)) / (tf.math.reduce_std(pic) + 1e-5)
    return pic, label


def make_dataset(x, y, cfg, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.map(to_picture, num_parallel_calls=tf.data.AUTOTUNE)
    if training:
        ds = ds.shuffle(512, seed=cfg.seed)
    return ds.batch(cfg.batch, drop_remainder=True).prefetch(2)


def make_model(cfg):
    return keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            keras.layers.Conv2D(32, 3, activation="relu"),
            keras.layers.Conv2D(48, 3, strides=2, activation="relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(cfg.classes),
        ]
    )


def main():
    cfg = Cfg()
    keras.utils.set_random_seed(cfg.seed)
    x, y = radar_traces(cfg)
    cut = int(0.9 * cfg.traces)
    train = make_dataset(x[:cut], y[:cut], cfg, True)
    test = make_dataset(x[cut:], y[cut:], cfg, False)
    model = make_model(cfg)
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    t0 = time.time()
    hist = model.fit(train, epochs=cfg.epochs, verbose=2)
    print("test", model.evaluate(test, verbose=0))
    print("last accuracy", hist.history["accuracy"][-1])
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
