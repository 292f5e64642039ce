"""Tea auction recommender: buyer and lot towers trained in turn.

Phases alternate between the buyer side, the lot side and both together; every
phase closes with a recall@20 on held-out bids.
"""

import json
import os
import tempfile
import time
from dataclasses import asdict, dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass(frozen=True)
class AuctionConfig:
    buyers: int = 3000
    lots: int = 1500
    tags: int = 48
    dim: int = 64
    bids: int = 60_000
    batch: int = 1024
    rounds: int = 3
    updates: int = 60
    temperature: float = 0.1


def hold_auction(cfg, rng):
    buyer_taste = rng.normal(0, 1, (cfg.buyers, 12))
    lot_taste = rng.normal(0, 1, (cfg.lots, 12))
    buyer = rng.integers(0, cfg.buyers, cfg.bids)
    options = rng.integers(0, cfg.lots, (cfg.bids, 25))
    fit = np.einsum("bk,bok->bo", buyer_taste[buyer], lot_taste[options])
    lot = options[np.arange(cfg.bids), fit.argmax(1)]
    buyer_tags = buyer_taste @ rng.normal(0, 1, (12, cfg.tags)) + rng.normal(
        0, 1, (cfg.buyers, cfg.tags)
    )
    lot_tags = lot_taste @ rng.normal(0, 1, (12, cfg.tags)) + rng.normal(0, 1, (cfg.lots, cfg.tags))
    return (
        buyer.astype("int32"),
        lot.astype("int32"),
        buyer_tags.astype("float32"),
        lot_tags.astype("float32"),
    )


class Tower(keras.Model):
    def __init__(self, table, cfg, name):
        super().__init__(name=name)
        self.table = tf.constant(table)
        self.id_vec = layers.Embedding(len(table), cfg.dim)
        self.body = keras.Sequential(
            [
                layers.Dense(512, activation="gelu"),
                layers.Dense(256, activation="gelu"),
                layers.Dense(cfg.dim),
            ]
        )

    def call(self, ids):
        x = tf.concat([self.id_vec(ids), tf.gather(self.table, ids)], -1)
        return tf.math.l2_normalize(self.body(x), -1)


class Auctioneer:
    def __init__(self, buyer, lot, cfg):
        self.buyer, self.lot, self.cfg = buyer, lot, cfg
        self.steps = {
            "buyers": self._make_step(buyer.trainable_variables, 1.0),
            "lots": self._make_step(lot.trainable_variables, 1.0),
            "both": self._make_step(buyer.trainable_variables + lot.trainable_variables, 0.5),
        }

    def _make_step(self, variables, scale):
        opt = keras.optimizers.Adam(1e-3 * scale)
        opt.build(variables)

        @tf.function
        def step(b, l):
            with tf.GradientTape() as tape:
                score = tf.matmul(self.buyer(b), self.lot(l), transpose_b=True)
                score /= self.cfg.temperature
                same = tf.cast(l[None, :] == l[:, None], tf.float32)
                score -= 1e4 * (same - tf.eye(tf.shape(l)[0]))
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(tf.shape(l)[0]), score)
                )
            opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
            return loss

        return step

    @tf.function
    def recall(self, b, l):
        every_lot = self.lot(tf.range(self.cfg.lots))
        score = tf.matmul(self.buyer(b), every_lot, transpose_b=True)
        return tf.reduce_mean(tf.cast(tf.math.in_top_k(l, score, 20), tf.float32))


def main():
    cfg = AuctionConfig()
    keras.utils.set_random_seed(88)
    rng = np.random.default_rng(88)
    b, l, b_tags, l_tags = hold_auction(cfg, rng)
    held_b, held_l = tf.constant(b[-1000:]), tf.constant(l[-1000:])
    bids = (
        tf.data.Dataset.from_tensor_slices((b[:-1000], l[:-1000]))
        .batch(cfg.batch, drop_remainder=True)
        .cache()
        .shuffle(64, seed=2)
        .repeat()
        .prefetch(4)
    )
    buyer, lot = Tower(b_tags, cfg, "buyer"), Tower(l_tags, cfg, "lot")
    buyer(b[:2]), lot(l[:2])
    house = Auctioneer(buyer, lot, cfg)

    log, stream, begin = [], iter(bids), time.time()
    for rnd in range(cfg.rounds):
        for side, step in house.steps.items():
            total = 0.0
            for _ in range(cfg.updates):
                total += step(*next(stream))
            entry = {
                "round": rnd,
                "side": side,
                "loss": float(total) / cfg.updates,
                "recall": float(house.recall(held_b, held_l)),
            }
            log.append(entry)
            print("round {round} {side:7s} loss {loss:.3f} recall@20 {recall:.3f}".format(**entry))
    print(f"train {time.time() - begin:.2f}s")
    with open(os.path.join(tempfile.mkdtemp(), "auction.json"), "w") as f:
        json.dump({"config": asdict(cfg), "log": log}, f)


if __name__ == "__main__":
    main()
