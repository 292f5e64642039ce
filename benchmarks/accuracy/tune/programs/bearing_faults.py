"""Bearing fault classification from vibration recordings of three test rigs.

The recordings are read as one long stream; after every block of batches
the classifier is scored on the held-out rig.
"""

import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers

CLASSES = ["healthy", "inner race", "outer race", "ball"]
RATE = 6000.0
WINDOW = 4096


def record_rig(n, rpm, noise, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(WINDOW, dtype="float32") / RATE
    labels = rng.integers(0, len(CLASSES), n)
    shaft = rpm / 60.0
    fault = np.array([0.0, 5.4, 3.6, 2.3])[labels] * shaft
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    base = np.sin(2 * np.pi * shaft * t[None] + phase)
    ring = np.sin(2 * np.pi * 1500 * t)[None]
    bursts = np.exp(4 * (np.cos(2 * np.pi * fault[:, None] * t[None]) - 1))
    signal = base + 0.6 * (labels > 0)[:, None] * bursts * ring
    signal += noise * rng.normal(size=(n, WINDOW))
    return signal.astype("float32"), labels.astype("int32")


def spectrogram(signal, label):
    frames = tf.signal.stft(signal, frame_length=512, frame_step=64, fft_length=512)
    power = tf.math.log(tf.abs(frames) ** 2 + 1e-4)
    power = power - tf.reduce_mean(power)
    power = tf.image.resize(power[..., None], (32, 64), antialias=True)
    return power, label


def jitter(signal, label):
    shift = tf.random.uniform([], 0, WINDOW, tf.int32)
    gain = tf.random.uniform([], 0.8, 1.25)
    return tf.roll(signal, shift, axis=0) * gain, label


def training_stream(rigs, batch, seed):
    parts = [
        tf.data.Dataset.from_tensor_slices(rig)
        .shuffle(512, seed=seed, reshuffle_each_iteration=False)
        .repeat()
        for rig in rigs
    ]
    mixed = tf.data.Dataset.sample_from_datasets(parts, weights=[0.5, 0.3, 0.2], seed=seed)
    mixed = mixed.map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
    mixed = mixed.map(spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
    return mixed.batch(batch).prefetch(tf.data.AUTOTUNE)


def build_classifier():
    return keras.Sequential(
        [
            keras.Input((32, 64, 1)),
            layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dropout(0.2),
            layers.Dense(len(CLASSES)),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--blocks", type=int, default=10)
    parser.add_argument("--block-steps", type=int, default=30)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    keras.utils.set_random_seed(3)

    rigs = [
        record_rig(800, rpm, noise, seed)
        for seed, (rpm, noise) in enumerate([(1750, 0.3), (1500, 0.4), (1200, 0.5)])
    ]
    stream = training_stream(rigs, args.batch, seed=11)
    held_out = tf.data.Dataset.from_tensor_slices(record_rig(256, 1600, 0.4, 99))
    held_out = held_out.map(spectrogram).batch(64).cache()

    model = build_classifier()
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )

    for block in range(args.blocks):
        part = stream.skip(block * args.block_steps).take(args.block_steps)
        seen = model.fit(part, epochs=1, verbose=0).history
        loss, acc = model.evaluate(held_out, verbose=0)
        print(
            f"block {block + 1:2d}  train loss {seen['loss'][0]:.3f} acc {seen['accuracy'][0]:.3f}"
            f"  held-out rig loss {loss:.3f} acc {acc:.3f}",
            flush=True,
        )

    guess = np.argmax(model.predict(held_out, verbose=0), axis=1)
    truth = np.concatenate([y for _, y in held_out.as_numpy_iterator()])
    for k, name in enumerate(CLASSES):
        print(f"  recall {name:11s} {np.mean(guess[truth == k] == k):.2f}")


if __name__ == "__main__":
    main()
