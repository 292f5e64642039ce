"""Avalanche / no avalanche from short Doppler radar recordings kept in TFRecord shards."""

import os
import tempfile
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class Config:
    shards: int = 6
    per_shard: int = 192
    samples: int = 12000
    batch: int = 48
    epochs: int = 7
    seed: int = 77


def write_shards(cfg, folder):
    rng = np.random.default_rng(cfg.seed)
    t = np.arange(cfg.samples) / 8000.0
    for s in range(cfg.shards):
        path = os.path.join(folder, f"pass-{s:02d}.tfrecord")
        with tf.io.TFRecordWriter(path, options="GZIP") as w:
            for _ in range(cfg.per_shard):
                label = int(rng.random() < 0.4)
                wave = rng.normal(0, 0.5, cfg.samples)
                if label:
                    f0, f1 = rng.uniform(200, 500), rng.uniform(900, 2200)
                    wave += np.sin(2 * np.pi * (f0 * t + (f1 - f0) * t * t / 3.0)) * 0.4
                pcm = np.clip(wave * 6000, -32767, 32767).astype("<i2")
                ex = tf.train.Example(
                    features=tf.train.Features(
                        feature={
                            "pcm": tf.train.Feature(
                                bytes_list=tf.train.BytesList(value=[pcm.tobytes()])
                            ),
                            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
                        }
                    )
                )
                w.write(ex.SerializeToString())
    return sorted(tf.io.gfile.glob(os.path.join(folder, "*.tfrecord")))


SPEC = {"pcm": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
MEL = None


def parse_record(raw):
    ex = tf.io.parse_single_example(raw, SPEC)
    wave = tf.cast(tf.io.decode_raw(ex["pcm"], tf.int16), tf.float32) / 32768.0
    spec = tf.abs(tf.signal.stft(wave, frame_length=512, frame_step=48, fft_length=1024))
    mel = tf.matmul(spec, MEL)
    db = tf.math.log(mel + 1e-5)
    db = (db - tf.reduce_mean(db)) / (tf.math.reduce_std(db) + 1e-3)
    image = tf.image.resize(db[..., None], (64, 48))
    return tf.ensure_shape(image, (64, 48, 1)), ex["label"]


def jitter(image, label):
    shift = tf.random.uniform([], -6, 7, tf.int32)
    return tf.roll(image, shift, axis=0), label


def make_dataset(files, cfg, training):
    ds = tf.data.Dataset.from_tensor_slices(files)
    ds = ds.interleave(
        lambda f: tf.data.TFRecordDataset(f, compression_type="GZIP"),
        cycle_length=2,
        num_parallel_calls=tf.data.AUTOTUNE,
    )
    ds = ds.map(parse_record, num_parallel_calls=tf.data.AUTOTUNE)
    if training:
        ds = ds.shuffle(256, seed=cfg.seed)
        ds = ds.map(jitter, num_parallel_calls=tf.data.AUTOTUNE)
    return ds.batch(cfg.batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def make_model():
    return keras.Sequential(
        [
            keras.Input((64, 48, 1)),
            layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(32, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )


def main():
    global MEL
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    MEL = tf.signal.linear_to_mel_weight_matrix(48, 513, 8000, 60.0, 3800.0)
    files = write_shards(cfg, tempfile.mkdtemp(prefix="avalanche_"))
    print("shards:", [os.path.basename(f) for f in files])
    train = make_dataset(files[:-1], cfg, True)
    val = make_dataset(files[-1:], cfg, False)
    model = make_model()
    model.compile(
        keras.optimizers.Adam(2e-3),
        "binary_crossentropy",
        metrics=["accuracy", keras.metrics.AUC(name="auc")],
    )
    model.fit(train, validation_data=val, epochs=cfg.epochs, verbose=2)
    print(model.evaluate(val, verbose=0, return_dict=True))


if __name__ == "__main__":
    main()
