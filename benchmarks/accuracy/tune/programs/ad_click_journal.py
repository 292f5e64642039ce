"""Click prediction with hashed categorical features and accumulated gradients."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras

N_FIELDS, N_DENSE = 10, 8


def click_log(n, buckets, seed=0):
    rng = np.random.default_rng(seed)
    cats = (rng.zipf(1.3, (n, N_FIELDS)) % buckets).astype("int32")
    dense = rng.normal(size=(n, N_DENSE)).astype("float32")
    affinity = rng.normal(0, 0.6, (N_FIELDS, buckets))
    score = affinity[np.arange(N_FIELDS), cats].sum(1) + dense @ rng.normal(0, 0.5, N_DENSE) - 1.0
    clicks = (rng.uniform(size=n) < 1 / (1 + np.exp(-score))).astype("float32")
    return (cats, dense), clicks[:, None]


class ClickModel(keras.Model):
    """Factorisation machine plus a deep tower; gradients of several micro-batches are summed."""

    def __init__(self, buckets, dim, accumulate):
        super().__init__()
        self.buckets = buckets
        self.every = accumulate
        self.embed = keras.layers.Embedding(buckets * N_FIELDS, dim)
        self.linear = keras.layers.Embedding(buckets * N_FIELDS, 1)
        self.tower = keras.Sequential(
            [
                keras.layers.Dense(128, activation="relu"),
                keras.layers.Dropout(0.1),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(1),
            ]
        )

    def call(self, inputs, training=False):
        cats, dense = inputs
        idx = cats + tf.range(N_FIELDS) * self.buckets
        e = self.embed(idx)
        fm = 0.5 * tf.reduce_sum(
            tf.square(tf.reduce_sum(e, 1)) - tf.reduce_sum(tf.square(e), 1), -1, keepdims=True
        )
        flat = tf.concat([tf.reshape(e, (-1, N_FIELDS * e.shape[-1])), dense], -1)
        return tf.reduce_sum(self.linear(idx), 1) + fm + self.tower(flat, training=training)

    def prepare(self):
        self.micro = tf.Variable(0, trainable=False, dtype=tf.int32)
        self.sums = [
            tf.Variable(tf.zeros_like(v), trainable=False) for v in self.trainable_variables
        ]

    def flush(self):
        self.optimizer.apply([s / self.every for s in self.sums], self.trainable_variables)
        for s in self.sums:
            s.assign(tf.zeros_like(s))
        self.micro.assign(0)
        return True

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            loss = self.compute_loss(x, y, pred)
        grads = tape.gradient(loss, self.trainable_variables)
        for s, g in zip(self.sums, grads):
            if isinstance(g, tf.IndexedSlices):
                s.scatter_add(g)
            else:
                s.assign_add(g)
        self.micro.assign_add(1)
        tf.cond(self.micro >= self.every, self.flush, lambda: False)
        for m in self.metrics:
            m.update_state(loss) if m.name == "loss" else m.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}


class StepScalars(keras.callbacks.Callback):
    def __init__(self, folder):
        super().__init__()
        self.writer = tf.summary.create_file_writer(folder)
        self.n = 0

    def on_train_batch_end(self, batch, logs=None):
        self.n += 1
        with self.writer.as_default():
            tf.summary.scalar("batch_loss", logs["loss"], step=self.n)

    def on_epoch_end(self, epoch, logs=None):
        self.writer.flush()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rows", type=int, default=200_000)
    p.add_argument("--buckets", type=int, default=2000)
    p.add_argument("--dim", type=int, default=16)
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--accumulate", type=int, default=4)
    p.add_argument("--epochs", type=int, default=5)
    args = p.parse_args()

    keras.utils.set_random_seed(1)
    (cats, dense), clicks = click_log(args.rows, args.buckets)
    cut = int(0.9 * args.rows)
    train = (
        tf.data.Dataset.from_tensor_slices(((cats[:cut], dense[:cut]), clicks[:cut]))
        .shuffle(8192, seed=0)
        .batch(args.batch, drop_remainder=True)
        .prefetch(4)
    )
    val = tf.data.Dataset.from_tensor_slices(((cats[cut:], dense[cut:]), clicks[cut:])).batch(2048)

    model = ClickModel(args.buckets, args.dim, args.accumulate)
    model((cats[:2], dense[:2]))
    model.prepare()
    bce = keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=bce,
        metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")],
    )
    folder = os.path.join(tempfile.mkdtemp(), "clicks")
    model.fit(
        train, validation_data=val, epochs=args.epochs, verbose=2, callbacks=[StepScalars(folder)]
    )


if __name__ == "__main__":
    main()
