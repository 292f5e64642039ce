"""Routes support tickets of very different lengths to desks.

Text -> tokens with tf.strings and tf.lookup, length buckets with group_by_window, and a
pooling layer of our own that keeps its attention from spreading.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

DESKS = 7
TICKETS = 6000
HELD = 1000
EDGES = [16, 32, 64, 128, 256]
SIZES = [128, 128, 64, 64, 32, 32]


def write_tickets(seed):
    rng = np.random.default_rng(seed)
    syllables = ["ka", "lo", "mi", "ra", "tu", "ven", "dor", "sil", "pex", "qua", "bin", "zet"]
    words = np.array(
        sorted({"".join(rng.choice(syllables, rng.integers(2, 5))) for _ in range(2600)})
    )
    topic = [rng.choice(len(words), 50, replace=False) for _ in range(DESKS)]
    desks = rng.integers(0, DESKS, TICKETS)
    texts = []
    for desk in desks:
        n = int(np.clip(rng.lognormal(3.6, 0.9), 5, 350))
        ids = rng.integers(0, len(words), n)
        hits = rng.integers(0, n, max(2, n // 9))
        ids[hits] = rng.choice(topic[desk], len(hits))
        texts.append(" ".join(words[ids]) + rng.choice([".", "!", "?"]))
    return np.array(texts), desks.astype(np.int32), words


class FocusPooling(layers.Layer):
    """Attention pooling; the entropy of the weights is added to the loss."""

    def __init__(self, strength, **kwargs):
        super().__init__(**kwargs)
        self.strength = strength
        self.supports_masking = True

    def build(self, input_shape):
        width = input_shape[-1]
        self.proj = self.add_weight(shape=(width, width), initializer="glorot_uniform", name="proj")
        self.query = self.add_weight(shape=(width,), initializer="random_normal", name="query")

    def call(self, x, mask=None):
        score = ops.sum(ops.tanh(ops.matmul(x, self.proj)) * self.query, axis=-1)
        if mask is not None:
            score = ops.where(mask, score, -1e9)
        weight = ops.softmax(score, axis=-1)
        entropy = -ops.sum(weight * ops.log(weight + 1e-9), axis=-1)
        self.add_loss(self.strength * ops.mean(entropy))
        return ops.sum(x * weight[..., None], axis=1)

    def compute_mask(self, inputs, mask=None):
        return None


def vocabulary(words):
    keys = tf.constant(words)
    values = tf.range(2, len(words) + 2, dtype=tf.int64)
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, values), default_value=1
    )


def make_dataset(texts, desks, table, training):
    def tokens(text, desk):
        clean = tf.strings.regex_replace(tf.strings.lower(text), r"[^a-z ]", "")
        ragged = tf.strings.split(clean)
        return tf.ragged.map_flat_values(table.lookup, ragged), desk

    bounds = tf.constant(EDGES, tf.int64)
    sizes = tf.constant(SIZES, tf.int64)

    def bucket(ids, desk):
        return tf.reduce_sum(tf.cast(tf.size(ids, tf.int64) > bounds, tf.int64))

    def pad(key, window):
        return window.padded_batch(sizes[key], padded_shapes=([None], []))

    ds = tf.data.Dataset.from_tensor_slices((texts, desks))
    ds = ds.batch(500).map(tokens).unbatch()
    ds = ds.map(lambda ids, desk: (tf.ensure_shape(ids, [None]), desk)).cache()
    if training:
        ds = ds.shuffle(len(texts), seed=1)
    ds = ds.group_by_window(
        key_func=bucket, reduce_func=pad, window_size_func=lambda key: sizes[key]
    )
    return ds.prefetch(8)


def build_model(vocab):
    ids = keras.Input((None,), dtype="int64")
    x = layers.Embedding(vocab, 96)(ids)
    for width in (160, 160):
        x = layers.Conv1D(width, 5, padding="same", activation="relu")(x)
    x = FocusPooling(0.01)(x, mask=ops.not_equal(ids, 0))
    x = layers.Dropout(0.4)(x)
    return keras.Model(ids, layers.Dense(DESKS)(x), name="router")


def main():
    keras.utils.set_random_seed(8)
    texts, desks, words = write_tickets(seed=7)
    table = vocabulary(words)
    train = make_dataset(texts[HELD:], desks[HELD:], table, True)
    held = make_dataset(texts[:HELD], desks[:HELD], table, False)
    model = build_model(len(words) + 2)
    model.compile(
        keras.optimizers.Adam(2e-3),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        train,
        validation_data=held,
        epochs=5,
        verbose=2,
        callbacks=[
            keras.callbacks.ReduceLROnPlateau(patience=1, factor=0.5),
            keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True),
        ],
    )
    print(
        "held-out:",
        {k: round(v, 4) for k, v in model.evaluate(held, verbose=0, return_dict=True).items()},
    )


if __name__ == "__main__":
    main()
