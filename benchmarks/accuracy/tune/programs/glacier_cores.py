"""Classify layers of ice cores from the sound speed traces of a borehole probe."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

CORES = 1500
TRAIN = 1200
SAMPLES = 8192
CLASSES = 6
EPOCHS = 9
BATCH = 32


def synthetic_traces(count, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, size=count)
    t = np.arange(SAMPLES, dtype=np.float32) / SAMPLES
    traces = np.empty((count, SAMPLES), dtype=np.float32)
    for i, c in enumerate(labels):
        f = 200.0 + 130.0 * c + rng.normal(0, 18)
        sweep = np.sin(2 * np.pi * (f * t + 80.0 * t * t))
        traces[i] = sweep * np.exp(-2 * t) + rng.normal(0, 0.9, SAMPLES)
    return traces, labels.astype(np.int32)


def filter_bank(bins, bands):
    centres = np.linspace(0, bins - 1, bands + 2)
    k = np.arange(bins)[:, None]
    up = (k - centres[:-2]) / (centres[1:-1] - centres[:-2])
    down = (centres[2:] - k) / (centres[2:] - centres[1:-1])
    return np.maximum(0, np.minimum(up, down)).astype(np.float32)


BANKS = {n: filter_bank(n // 2 + 1, 40) for n in (256, 512, 1024)}


def to_layers(trace, label):
    """Three spectrograms with other windows, as the channels of one picture."""
    trace = trace - tf.reduce_mean(trace)
    channels = []
    for window, bank in BANKS.items():
        spec = tf.abs(tf.signal.stft(trace, window, 32, pad_end=True))
        spec = tf.math.log1p(tf.matmul(spec, bank))
        mean, var = tf.nn.moments(spec, axes=[0, 1])
        channels.append((spec - mean) * tf.math.rsqrt(var + 1e-5))
    picture = tf.stack(channels, axis=-1)
    picture = tf.image.resize(picture, (64, 40))
    return picture, label


def make_datasets(traces, labels):
    cores = (
        tf.data.Dataset.from_tensor_slices((traces, labels))
        .map(to_layers, num_parallel_calls=2)
        .cache()
    )
    train = cores.take(TRAIN).shuffle(400, seed=1).batch(BATCH).prefetch(2)
    held = (
        tf.data.Dataset.from_tensor_slices((traces[TRAIN:], labels[TRAIN:]))
        .map(to_layers)
        .batch(BATCH)
        .cache()
    )
    return train, held


def make_model():
    inputs = keras.Input((64, 40, 3))
    x = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inputs)
    for width in (24, 32):
        y = layers.SeparableConv2D(width, 3, padding="same", activation="relu")(x)
        y = layers.BatchNormalization()(y)
        x = layers.Conv2D(width, 1)(x)
        x = layers.MaxPooling2D()(layers.add([x, y]))
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(inputs, layers.Dense(CLASSES)(x), name="cores")


def main():
    keras.utils.set_random_seed(4)
    traces, labels = synthetic_traces(CORES, seed=8)
    train, held = make_datasets(traces, labels)
    model = make_model()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train, validation_data=held, epochs=EPOCHS, verbose=2)


if __name__ == "__main__":
    main()
