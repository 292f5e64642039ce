"""Which spice does a market visitor buy next?  Hashed two-tower model with in-batch softmax."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

VISITORS = 6000
SPICES = 900


def hashed(ids, buckets):
    return ((ids.astype(np.uint64) * np.uint64(2654435761)) % np.uint64(buckets)).astype(np.int32)


def make_purchases(n, rng):
    taste = rng.normal(size=(VISITORS, 8))
    flavour = rng.normal(size=(SPICES, 8))
    visitor = rng.integers(0, VISITORS, n)
    cand = rng.integers(0, SPICES, (n, 12))
    score = np.einsum("nd,nkd->nk", taste[visitor], flavour[cand])
    spice = cand[np.arange(n), score.argmax(1)]
    month = rng.integers(0, 12, n)
    return visitor, spice, month


class TwoTower(keras.Model):
    def __init__(self, buckets, dim):
        super().__init__()
        self.visitor_table = layers.Embedding(buckets, dim, name="visitor_table")
        self.spice_table = layers.Embedding(SPICES, dim, name="spice_table")
        self.month_table = layers.Embedding(12, 8)
        self.query = keras.Sequential(
            [
                layers.Dense(256, activation="relu"),
                layers.Dense(128, activation="relu"),
                layers.Dense(64),
            ]
        )
        self.item = keras.Sequential([layers.Dense(256, activation="relu"), layers.Dense(64)])
        self.loss_avg = keras.metrics.Mean(name="loss")
        self.hit = keras.metrics.SparseTopKCategoricalAccuracy(10, name="top10")

    @property
    def metrics(self):
        return [self.loss_avg, self.hit]

    def call(self, batch, training=False):
        q = tf.concat([self.visitor_table(batch["visitor"]), self.month_table(batch["month"])], -1)
        return self.query(q), self.item(self.spice_table(batch["spice"]))

    def train_step(self, batch):
        n = tf.shape(batch["spice"])[0]
        target = tf.range(n)
        with tf.GradientTape() as tape:
            q, v = self(batch, training=True)
            logits = tf.matmul(q, v, transpose_b=True) / 8.0
            same = tf.equal(batch["spice"][:, None], batch["spice"][None, :])
            dup = tf.logical_and(same, tf.logical_not(tf.eye(n, dtype=tf.bool)))
            logits = tf.where(dup, -1e9, logits)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_avg.update_state(loss)
        self.hit.update_state(target, logits)
        return {m.name: m.result() for m in self.metrics}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--buckets", type=int, default=300_000)
    ap.add_argument("--dim", type=int, default=32)
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--epochs", type=int, default=4)
    args = ap.parse_args()
    keras.utils.set_random_seed(8)
    rng = np.random.default_rng(8)
    visitor, spice, month = make_purchases(60_000, rng)
    feats = {
        "visitor": hashed(visitor, args.buckets),
        "spice": spice.astype(np.int32),
        "month": month.astype(np.int32),
    }
    ds = (
        tf.data.Dataset.from_tensor_slices(feats)
        .shuffle(60_000)
        .batch(args.batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    model = TwoTower(args.buckets, args.dim)
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    model.fit(ds, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
