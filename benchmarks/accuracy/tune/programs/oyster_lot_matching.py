"""Who bids for which lot of oysters? Two-tower model for the morning auction at Cancale.

Own fit() instead of keras fit because I want the running AUC next to the loss.
"""

import argparse
import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf


def make_auction(n_buyers, n_lots, n_events, dim, rng):
    buyers = rng.standard_normal((n_buyers, dim))
    lots = rng.standard_normal((n_lots, dim))
    b = rng.integers(0, n_buyers, n_events)
    l = rng.integers(0, n_lots, n_events)
    side = np.stack(
        [rng.uniform(2, 40, n_events), rng.integers(0, 5, n_events), rng.uniform(0, 1, n_events)], 1
    )
    p = 1 / (1 + np.exp(-(buyers[b] * lots[l]).sum(1) + 0.05 * (side[:, 0] - 20)))
    bid = (rng.random(n_events) < p).astype("float32")
    return (
        b.astype("int32"),
        l.astype("int32"),
        ((side - side.mean(0)) / side.std(0)).astype("float32"),
        bid,
    )


class Batches:
    """shuffled anew in each epoch, last incomplete batch dropped"""

    def __init__(self, columns, size, rng):
        self.columns, self.size, self.rng = columns, size, rng

    def __iter__(self):
        order = self.rng.permutation(len(self.columns[0]))
        for i in range(0, len(order) - self.size + 1, self.size):
            pick = order[i : i + self.size]
            yield tuple(tf.constant(c[pick]) for c in self.columns)


class Towers(tf.keras.Model):
    def __init__(self, n_buyers, n_lots, width=64):
        super().__init__()
        self.buyer = tf.keras.layers.Embedding(n_buyers, width)
        self.lot = tf.keras.layers.Embedding(n_lots, width)
        self.d1 = tf.keras.layers.Dense(256, activation="relu")
        self.d2 = tf.keras.layers.Dense(128, activation="relu")
        self.head = tf.keras.layers.Dense(1)

    def call(self, inputs):
        b, l, side = inputs
        u, v = self.buyer(b), self.lot(l)
        z = tf.concat([u, v, u * v, side], axis=1)
        return tf.squeeze(self.head(self.d2(self.d1(z))), 1)


def rank_auc(y, s):
    """AUC from ranks (Mann-Whitney), y and s are 1-d tensors"""
    order = tf.argsort(s)
    y = tf.gather(y, order)
    ranks = tf.cast(tf.range(1, tf.size(y) + 1), tf.float32)
    pos = tf.reduce_sum(y)
    neg = tf.cast(tf.size(y), tf.float32) - pos
    return (tf.reduce_sum(ranks * y) - pos * (pos + 1) / 2) / tf.maximum(pos * neg, 1.0)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = tf.keras.optimizers.Adam(lr)
        self.bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
        self.seen_y, self.seen_score = [], []

    @tf.function
    def train_batch(self, b, l, side, bid):
        with tf.GradientTape() as tape:
            logit = self.model((b, l, side), training=True)
            loss = self.bce(bid, logit)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss, tf.sigmoid(logit)

    def running_auc(self, y, score):
        self.seen_y.append(y)
        self.seen_score.append(score)
        return rank_auc(tf.concat(self.seen_y, 0), tf.concat(self.seen_score, 0))

    def fit(self, ds, epochs):
        log = {"loss": [], "auc": []}
        for epoch in range(epochs):
            start = time.time()
            for step, (b, l, side, bid) in enumerate(ds):
                loss, score = self.train_batch(b, l, side, bid)
                auc = self.running_auc(bid, score)
                if step % 20 == 0:
                    print("epoch %d step %3d loss %.4f auc %.4f" % (epoch + 1, step, loss, auc))
            log["loss"].append(float(loss))
            log["auc"].append(float(auc))
            print("epoch %d: %.2f s" % (epoch + 1, time.time() - start))
        return log


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--events", type=int, default=100_000)
    ap.add_argument("--batch", type=int, default=2048)
    ap.add_argument("--epochs", type=int, default=7)
    ap.add_argument("--seed", type=int, default=29)
    a = ap.parse_args()
    tf.keras.utils.set_random_seed(a.seed)
    rng = np.random.default_rng(a.seed)
    events = make_auction(900, 3000, a.events, 4, rng)
    log = Trainer(Towers(900, 3000), 2e-3).fit(Batches(events, a.batch, rng), a.epochs)
    print({k: [round(v, 4) for v in vs] for k, vs in log.items()})


if __name__ == "__main__":
    main()
