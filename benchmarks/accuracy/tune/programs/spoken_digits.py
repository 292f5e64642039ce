"""Spoken digit recognition: waveforms in TFRecord shards -> log spectrogram -> small CRNN."""

import glob
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

RATE, DURATION = 4000, 1.0
SAMPLES = int(RATE * DURATION)
DIGITS = 10
FRAME, HOP = 128, 64


def synth(digit, rng):
    t = np.arange(SAMPLES) / RATE
    f1, f2 = 250 + 90 * digit, 1500 - 70 * digit
    glide = 1 + 0.2 * rng.uniform(-1, 1) * t
    env = np.exp(-(((t - rng.uniform(0.35, 0.65)) / 0.18) ** 2))
    wave = env * (np.sin(2 * np.pi * f1 * glide * t) + 0.6 * np.sin(2 * np.pi * f2 * t))
    return np.int16(8000 * (wave + 0.1 * rng.normal(size=SAMPLES)))


def write_shards(folder, split, n, shards, seed):
    rng = np.random.default_rng(seed)
    for s in range(shards):
        with tf.io.TFRecordWriter(os.path.join(folder, f"{split}-{s}.tfrecord")) as w:
            for _ in range(n // shards):
                d = int(rng.integers(DIGITS))
                w.write(
                    tf.train.Example(
                        features=tf.train.Features(
                            feature={
                                "pcm": tf.train.Feature(
                                    bytes_list=tf.train.BytesList(value=[synth(d, rng).tobytes()])
                                ),
                                "digit": tf.train.Feature(int64_list=tf.train.Int64List(value=[d])),
                            }
                        )
                    ).SerializeToString()
                )


def parse(batch):
    ex = tf.io.parse_example(
        batch,
        {
            "pcm": tf.io.FixedLenFeature([], tf.string),
            "digit": tf.io.FixedLenFeature([], tf.int64),
        },
    )
    pcm = tf.io.decode_raw(ex["pcm"], tf.int16, fixed_length=None)
    wave = tf.reshape(tf.cast(pcm, tf.float32) / 32768.0, [-1, SAMPLES])
    spec = tf.abs(tf.signal.stft(wave, FRAME, HOP))
    return tf.math.log(spec + 1e-3), ex["digit"]


def load(folder, split, training):
    files = sorted(glob.glob(os.path.join(folder, f"{split}-*.tfrecord")))
    ds = tf.data.TFRecordDataset(files, num_parallel_reads=2).batch(40)
    ds = ds.map(parse, num_parallel_calls=2).cache()
    if training:
        ds = ds.unbatch().shuffle(2000, seed=6).batch(40, drop_remainder=True)
    return ds.prefetch(2)


def build():
    frames, bins = (SAMPLES - FRAME) // HOP + 1, FRAME // 2 + 1
    inp = keras.Input((frames, bins))
    x = layers.Normalization(axis=-1, mean=-3.0, variance=4.0)(inp)
    x = layers.SpatialDropout1D(0.1)(x)
    x = layers.Conv1D(96, 5, padding="same", activation="relu")(x)
    x = layers.Conv1D(96, 5, padding="same", activation="relu")(x)
    x = layers.Bidirectional(layers.GRU(64, return_sequences=True))(x)
    x = layers.GlobalMaxPooling1D()(x)
    return keras.Model(inp, layers.Dense(DIGITS, activation="softmax")(x))


def main():
    keras.utils.set_random_seed(14)
    folder = tempfile.mkdtemp()
    write_shards(folder, "train", 2000, 4, seed=0)
    write_shards(folder, "valid", 400, 1, seed=1)
    model = build()
    model.compile(
        keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"]
    )
    model.fit(
        load(folder, "train", True),
        validation_data=load(folder, "valid", False),
        epochs=10,
        verbose=2,
        callbacks=[
            keras.callbacks.TensorBoard(
                os.path.join(folder, "tb"), update_freq="epoch", profile_batch=0
            ),
            keras.callbacks.ModelCheckpoint(
                os.path.join(folder, "best.weights.h5"),
                monitor="val_loss",
                save_best_only=True,
                save_weights_only=True,
            ),
            keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5),
            keras.callbacks.EarlyStopping(patience=6, restore_best_weights=True),
        ],
    )


if __name__ == "__main__":
    main()
