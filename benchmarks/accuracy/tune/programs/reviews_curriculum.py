"""Sentiment of synthetic reviews: short ones first, longer ones in later phases."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

VOCAB, DIM, BATCH = 4000, 64, 32
PHASES = [(32, 2), (64, 2), (128, 3)]  # (maximum length, epochs)


def write_reviews(path, n, max_len, seed):
    """Polarity words are rare and diluted in neutral filler."""
    rng = np.random.default_rng(seed)
    with tf.io.TFRecordWriter(path) as out:
        for _ in range(n):
            length = int(rng.integers(max_len // 2, max_len + 1))
            label = int(rng.integers(0, 2))
            tokens = rng.integers(200, VOCAB, length)
            k = max(2, length // 12)
            tokens[rng.choice(length, k, replace=False)] = rng.integers(1, 100, k) + 100 * label
            feats = {
                "tokens": tf.train.Feature(int64_list=tf.train.Int64List(value=tokens)),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
            }
            out.write(
                tf.train.Example(features=tf.train.Features(feature=feats)).SerializeToString()
            )


def load(path, max_len, training):
    spec = {
        "tokens": tf.io.RaggedFeature(tf.int64),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(batch):
        ex = tf.io.parse_example(batch, spec)
        return ex["tokens"].to_tensor(shape=[BATCH, max_len]), ex["label"]

    ds = tf.data.TFRecordDataset(path)
    if training:
        ds = ds.shuffle(2000, seed=1)
    ds = ds.batch(BATCH, drop_remainder=True).map(parse, num_parallel_calls=2)
    if not training:
        ds = ds.cache()
    return ds.prefetch(2)


class SelfAttentionBlock(layers.Layer):
    def __init__(self, dim, heads=4, **kw):
        super().__init__(**kw)
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.ff = keras.Sequential([layers.Dense(2 * dim, activation="gelu"), layers.Dense(dim)])
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()

    def call(self, x, pad):
        x = x + self.att(self.n1(x), x, attention_mask=pad[:, None, :])
        return x + self.ff(self.n2(x))


def build():
    tokens = keras.Input((None,), dtype="int64")
    pad = layers.Lambda(lambda t: tf.not_equal(t, 0), output_shape=(None,))(tokens)
    x = layers.Embedding(VOCAB, DIM)(tokens)
    x = layers.Conv1D(DIM, 3, padding="same", activation="relu")(x)
    x = SelfAttentionBlock(DIM)(x, pad)
    x = SelfAttentionBlock(DIM)(x, pad)
    x = layers.GlobalMaxPooling1D()(x)
    return keras.Model(tokens, layers.Dense(1)(x))


def main():
    tf.random.set_seed(2)
    work = tempfile.mkdtemp(prefix="reviews_")
    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")],
    )
    callbacks = [
        keras.callbacks.ModelCheckpoint(
            os.path.join(work, "best.weights.h5"),
            monitor="val_acc",
            mode="max",
            save_best_only=True,
            save_weights_only=True,
        ),
        keras.callbacks.CSVLogger(os.path.join(work, "log.csv"), append=True),
    ]
    files = {}
    for max_len, _ in PHASES:
        for part, n in (("train", 1600), ("val", 256)):
            files[max_len, part] = os.path.join(work, f"{part}-{max_len}.tfrecord")
            write_reviews(files[max_len, part], n, max_len, seed=max_len + n)

    done = 0
    for max_len, epochs in PHASES:
        h = model.fit(
            load(files[max_len, "train"], max_len, True),
            validation_data=load(files[max_len, "val"], max_len, False),
            initial_epoch=done,
            epochs=done + epochs,
            callbacks=callbacks,
            verbose=2,
        )
        done += epochs
        print(f"<= {max_len} tokens: val acc {h.history['val_acc'][-1]:.3f}")


if __name__ == "__main__":
    main()
