"""Small-vocabulary keyword spotter trained on log-mel patches read from TFRecord shards."""

import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras

SAMPLE_RATE = 8000
NUM_WORDS = 24
NUM_TARGETS = 10
CLIPS = 4800
SHARDS = 4
BATCH = 48
EPOCHS = 7
AUTOTUNE = tf.data.AUTOTUNE

rng = np.random.default_rng(2024)
keras.utils.set_random_seed(2024)


def synth_clip(word):
    t = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    base = 180.0 + 37.0 * word
    sweep = base * (1.0 + 0.4 * t * (1 if word % 2 else -1))
    voiced = np.sin(2 * np.pi * sweep * t) + 0.5 * np.sin(4 * np.pi * (base + 90) * t)
    envelope = np.exp(-((t - rng.uniform(0.35, 0.65)) ** 2) / 0.03)
    audio = 0.4 * voiced * envelope + 0.6 * rng.standard_normal(SAMPLE_RATE)
    return np.clip(audio * 12000, -32767, 32767).astype(np.int16)


def write_shards(folder, n_clips, prefix):
    paths = [os.path.join(folder, f"{prefix}-{i:02d}.tfrecord") for i in range(SHARDS)]
    writers = [tf.io.TFRecordWriter(p) for p in paths]
    for i in range(n_clips):
        word = int(rng.integers(NUM_WORDS))
        feature = {
            "pcm": tf.train.Feature(
                bytes_list=tf.train.BytesList(value=[synth_clip(word).tobytes()])
            ),
            "word": tf.train.Feature(int64_list=tf.train.Int64List(value=[word])),
        }
        example = tf.train.Example(features=tf.train.Features(feature=feature))
        writers[i % SHARDS].write(example.SerializeToString())
    for w in writers:
        w.close()
    return paths


MEL = tf.signal.linear_to_mel_weight_matrix(40, 513, SAMPLE_RATE, 60.0, 3800.0)


def parse(record):
    parsed = tf.io.parse_single_example(
        record,
        {"pcm": tf.io.FixedLenFeature([], tf.string), "word": tf.io.FixedLenFeature([], tf.int64)},
    )
    pcm = tf.io.decode_raw(parsed["pcm"], tf.int16)
    audio = tf.cast(tf.ensure_shape(pcm, [SAMPLE_RATE]), tf.float32) / 32768.0
    return audio, parsed["word"]


def perturb(audio, word):
    shift = tf.random.uniform([], -800, 800, tf.int32)
    audio = tf.roll(audio, shift, axis=0) * tf.random.uniform([], 0.6, 1.4)
    noise = tf.random.normal([SAMPLE_RATE], stddev=0.02)
    return audio + noise, word


def log_mel(audio, word):
    spec = tf.abs(tf.signal.stft(audio, 400, 40, fft_length=1024))
    mel = tf.math.log(tf.matmul(tf.square(spec), MEL) + 1e-5)
    mel = (mel - tf.reduce_mean(mel)) / (tf.math.reduce_std(mel) + 1e-4)
    return mel, word


def is_target(features, word):
    return word < NUM_TARGETS


def make_dataset(paths, training):
    ds = tf.data.TFRecordDataset(paths, num_parallel_reads=2)
    ds = ds.map(parse, num_parallel_calls=AUTOTUNE)
    if training:
        ds = ds.map(perturb, num_parallel_calls=AUTOTUNE)
    ds = ds.map(log_mel, num_parallel_calls=AUTOTUNE)
    ds = ds.filter(is_target)
    if training:
        ds = ds.shuffle(512, seed=1)
    else:
        ds = ds.cache()
    return ds.batch(BATCH, drop_remainder=training).prefetch(AUTOTUNE)


def build_model():
    inputs = keras.Input((191, 40))
    x = inputs
    for width, kernel, stride in ((64, 5, 2), (96, 3, 2), (96, 3, 1)):
        x = keras.layers.Conv1D(width, kernel, strides=stride, padding="same", use_bias=False)(x)
        x = keras.layers.BatchNormalization(momentum=0.9)(x)
        x = keras.layers.ReLU()(x)
    x = keras.layers.GlobalMaxPooling1D()(x)
    x = keras.layers.Dropout(0.2)(x)
    return keras.Model(inputs, keras.layers.Dense(NUM_TARGETS)(x))


with tempfile.TemporaryDirectory() as folder:
    train_ds = make_dataset(write_shards(folder, CLIPS, "train"), training=True)
    val_ds = make_dataset(write_shards(folder, 480, "val"), training=False)

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        train_ds,
        validation_data=val_ds,
        epochs=EPOCHS,
        verbose=2,
        callbacks=[
            keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=1, factor=0.5),
            keras.callbacks.ModelCheckpoint(
                os.path.join(folder, "best.weights.h5"),
                monitor="val_accuracy",
                save_best_only=True,
                save_weights_only=True,
            ),
        ],
    )
    model.load_weights(os.path.join(folder, "best.weights.h5"))
    print("best:", model.evaluate(val_ds, verbose=0))
