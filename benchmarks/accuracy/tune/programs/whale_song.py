"""Whale call detector on hydrophone clips."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(0)
SR = 8000
SECONDS = 4
N_CLIPS = 900
SPECIES = 4

rng = np.random.default_rng(0)


def synth_clip(species):
    t = np.arange(SR * SECONDS, dtype=np.float32) / SR
    f0 = [90, 180, 320, 500][species] * rng.uniform(0.9, 1.1)
    sweep = f0 * (1 + 0.3 * np.sin(2 * np.pi * 0.5 * t + rng.uniform(0, 6)))
    sig = np.sin(2 * np.pi * np.cumsum(sweep) / SR) * (rng.random() + 0.3)
    return (sig + rng.normal(0, 1.0, t.shape)).astype(np.float32)


labels = rng.integers(0, SPECIES, N_CLIPS).astype(np.int32)
clips = np.stack([synth_clip(s) for s in labels]).astype(np.float16)
print("clips:", clips.shape, clips.nbytes / 1e6, "MB")

mel = tf.signal.linear_to_mel_weight_matrix(64, 513, SR, 40.0, 3500.0)


def log_mel(wave, label):
    wave = tf.cast(wave, tf.float32)
    wave = wave - tf.reduce_mean(wave)
    spec = tf.abs(tf.signal.stft(wave, 1024, 128))
    # per-channel energy normalisation, the ocean noise is far from stationary
    m = tf.matmul(spec**2, mel)
    smooth = tf.nn.avg_pool1d(m[None], 31, 1, "SAME")[0]
    pcen = (m / (1e-6 + smooth) ** 0.9 + 2.0) ** 0.5 - 2.0**0.5
    return pcen[:240, :, None], label


n_val = 100
BATCH = 20
STEPS_PER_EPOCH = 30

train = tf.data.Dataset.from_tensor_slices((clips[n_val:], labels[n_val:]))
train = train.map(log_mel, num_parallel_calls=tf.data.AUTOTUNE)
train = train.cache()
train = train.shuffle(100, seed=1).batch(BATCH).take(STEPS_PER_EPOCH)
train = train.prefetch(tf.data.AUTOTUNE)

val = tf.data.Dataset.from_tensor_slices((clips[:n_val], labels[:n_val]))
val = val.map(log_mel, num_parallel_calls=tf.data.AUTOTUNE).batch(50).cache()

model = keras.Sequential(
    [
        keras.Input((240, 64, 1)),
        layers.AveragePooling2D((2, 2)),
        layers.Conv2D(12, 5, strides=2, activation="relu", padding="same"),
        layers.Conv2D(24, 3, strides=2, activation="relu", padding="same"),
        layers.Conv2D(32, 3, strides=2, activation="relu", padding="same"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(SPECIES),
    ]
)
model.compile(
    "adam",
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
    jit_compile=False,
)
model.fit(train, validation_data=val, epochs=25, verbose=2)
