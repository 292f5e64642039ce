"""Classify forward-scatter radio echoes (underdense, overdense, aircraft, noise) night by night."""

from dataclasses import dataclass
import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class Station:
    recordings: int = 4800
    samples: int = 8192
    batch: int = 40
    nights: int = 10
    echoes_per_night: int = 480
    kinds: int = 4
    seed: int = 77


def record(cfg, rng):
    t = np.arange(cfg.samples, dtype="float32") / 4096.0
    kind = rng.integers(0, cfg.kinds, cfg.recordings).astype("int32")
    audio = rng.normal(0, 0.5, (cfg.recordings, cfg.samples)).astype("float32")
    for i, k in enumerate(kind):
        f = rng.uniform(300, 1400)
        start = rng.uniform(0.2, 1.0)
        if k == 0:
            env = np.where(t > start, np.exp(-(t - start) * 12), 0)
        elif k == 1:
            env = ((t > start) & (t < start + 0.6)) * (1 + 0.4 * np.sin(30 * t))
        elif k == 2:
            env, f = 0.6, f + 120 * t
        else:
            env = 0.0
        audio[i] += env * np.sin(2 * np.pi * f * t)
    return audio, kind


def to_spectrogram(wave, kind):
    spec = tf.abs(tf.signal.stft(wave, 512, 32, fft_length=512))
    mel = tf.signal.linear_to_mel_weight_matrix(48, 257, 4096, 100.0, 1900.0)
    spec = tf.math.log1p(tf.matmul(spec, mel))
    spec = tf.reduce_max(tf.reshape(spec[:240], [120, 2, 48]), axis=1)
    spec = (spec - tf.reduce_mean(spec)) / (tf.math.reduce_std(spec) + 1e-4)
    return spec[..., None], kind


def night_dataset(audio, kind, night, cfg):
    """Echoes of one night, in the order the receiver wrote them."""
    echoes = tf.data.Dataset.from_tensor_slices((audio, kind))
    echoes = echoes.map(to_spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
    echoes = echoes.skip(night * cfg.echoes_per_night).take(cfg.echoes_per_night)
    return echoes.batch(cfg.batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def build(cfg, shape):
    inp = keras.Input(shape)
    h = inp
    for width in (16, 24, 32):
        h = layers.Conv2D(width, 3, padding="same", use_bias=False)(h)
        h = layers.BatchNormalization()(h)
        h = layers.ReLU()(h)
        h = layers.MaxPool2D(2)(h)
    h = layers.GlobalAveragePooling2D()(h)
    h = layers.Dropout(0.2)(h)
    model = keras.Model(inp, layers.Dense(cfg.kinds)(h), name="echo_net")
    model.compile(
        keras.optimizers.Adam(2e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def main():
    cfg = Station()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    audio, kind = record(cfg, rng)
    out = tempfile.mkdtemp(prefix="echoes_")
    model = build(cfg, (120, 48, 1))
    log = keras.callbacks.CSVLogger(os.path.join(out, "nights.csv"), append=True)
    began = time.time()
    for night in range(cfg.nights):
        ds = night_dataset(audio, kind, night, cfg)
        hist = model.fit(ds, initial_epoch=night, epochs=night + 1, verbose=0, callbacks=[log])
        print(
            "night %2d  loss %.3f  acc %.3f"
            % (night + 1, hist.history["loss"][-1], hist.history["accuracy"][-1])
        )
    print("training took %.2f s" % (time.time() - began))
    model.save_weights(os.path.join(out, "echo_net.weights.h5"))


if __name__ == "__main__":
    main()
