"""Tells whale call types apart from hydrophone clips stored in TFRecords."""

import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf

RATE = 4000
SECONDS = 4
SHARDS = 6
PER_SHARD = 150
CALLS = 5
TRAIN = 720
BATCH = 36
EPOCHS = 12


def synth_call(rng, kind):
    t = np.arange(RATE * SECONDS) / RATE
    base = rng.uniform(150, 320)
    if kind == 0:
        pitch = base + 60 * t
    elif kind == 1:
        pitch = base + 240 - 60 * t
    elif kind == 2:
        pitch = base + 70 * np.sin(2 * np.pi * 1.5 * t)
    elif kind == 3:
        pitch = base + 120 * (np.floor(t * 2) % 2)
    else:
        pitch = np.full_like(t, base)
    tone = np.sin(2 * np.pi * np.cumsum(pitch) / RATE)
    tone += 0.4 * np.sin(4 * np.pi * np.cumsum(pitch) / RATE)
    noise = np.convolve(rng.normal(size=t.size), np.ones(4) / 4, mode="same")
    wave = 0.5 * tone * (rng.random() + 0.3) + noise
    return np.clip(wave * 5000, -32000, 32000).astype(np.int16)


def write_shards(folder):
    rng = np.random.default_rng(21)
    paths = []
    for shard in range(SHARDS):
        path = os.path.join(folder, f"calls-{shard:02d}.tfrecord")
        with tf.io.TFRecordWriter(path) as out:
            for _ in range(PER_SHARD):
                kind = int(rng.integers(CALLS))
                feature = {
                    "wave": tf.train.Feature(
                        bytes_list=tf.train.BytesList(value=[synth_call(rng, kind).tobytes()])
                    ),
                    "kind": tf.train.Feature(int64_list=tf.train.Int64List(value=[kind])),
                }
                out.write(
                    tf.train.Example(
                        features=tf.train.Features(feature=feature)
                    ).SerializeToString()
                )
        paths.append(path)
    return paths


MEL = tf.signal.linear_to_mel_weight_matrix(48, 513, RATE, 60.0, 1900.0)


def parse(record):
    parsed = tf.io.parse_single_example(
        record,
        {"wave": tf.io.FixedLenFeature([], tf.string), "kind": tf.io.FixedLenFeature([], tf.int64)},
    )
    wave = tf.cast(tf.io.decode_raw(parsed["wave"], tf.int16), tf.float32)
    wave = tf.reshape(wave, [RATE * SECONDS]) / 32768.0
    return wave, parsed["kind"]


def spectrogram(wave, kind):
    """Log-mel picture with the steady sea noise taken off each band."""
    power = tf.abs(tf.signal.stft(wave, 800, 25, fft_length=1024)) ** 2
    mel = tf.math.log(tf.matmul(power, MEL) + 1e-6)
    ranked = tf.sort(mel, axis=0)
    mel = mel - ranked[tf.shape(ranked)[0] // 3]
    mel = tf.image.resize(mel[..., None], [96, 48], antialias=True)
    return mel, kind


def build_sets(paths):
    clips = (
        tf.data.Dataset.from_tensor_slices(paths)
        .interleave(tf.data.TFRecordDataset, cycle_length=3)
        .map(parse, num_parallel_calls=tf.data.AUTOTUNE)
        .map(spectrogram, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()
    )
    train = clips.take(TRAIN).shuffle(400, seed=2).batch(BATCH).prefetch(tf.data.AUTOTUNE)
    test = clips.skip(TRAIN).batch(BATCH).prefetch(tf.data.AUTOTUNE)
    return train, test


def build_model():
    model = keras.Sequential([keras.Input((96, 48, 1))])
    for width in (8, 16, 32):
        model.add(keras.layers.Conv2D(width, 3, padding="same", use_bias=False))
        model.add(keras.layers.BatchNormalization())
        model.add(keras.layers.Activation("relu"))
        model.add(keras.layers.MaxPooling2D())
    model.add(keras.layers.GlobalAveragePooling2D())
    model.add(keras.layers.Dropout(0.2))
    model.add(keras.layers.Dense(CALLS))
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def main():
    keras.utils.set_random_seed(8)
    with tempfile.TemporaryDirectory() as folder:
        paths = write_shards(folder)
        train, test = build_sets(paths)
        model = build_model()
        began = time.time()
        model.fit(train, epochs=EPOCHS, verbose=2)
        print(f"trained for {time.time() - began:.1f}s")
        loss, accuracy = model.evaluate(test, verbose=0)
        print(f"test loss {loss:.3f}  accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
