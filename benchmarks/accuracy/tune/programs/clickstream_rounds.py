"""Click-through model trained in rounds over a TFRecord log; metrics after each round."""

import os
import tempfile
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    shards: int = 4
    rows_per_shard: int = 6000
    batch_size: int = 256
    rounds: int = 45
    steps_per_round: int = 20
    n_ads: int = 2000
    n_sites: int = 500
    history: int = 20
    dim: int = 32
    learning_rate: float = 1e-3


FEATURES = {
    "ad": tf.io.FixedLenFeature([], tf.int64),
    "site": tf.io.FixedLenFeature([], tf.int64),
    "history": tf.io.VarLenFeature(tf.int64),
    "dense": tf.io.FixedLenFeature([8], tf.float32),
    "clicked": tf.io.FixedLenFeature([], tf.int64),
}


def write_logs(cfg, folder):
    rng = np.random.default_rng(3)
    taste = rng.normal(size=cfg.n_ads)
    paths = []
    for s in range(cfg.shards):
        path = os.path.join(folder, f"clicks-{s:03d}.tfrecord")
        with tf.io.TFRecordWriter(path) as out:
            for _ in range(cfg.rows_per_shard):
                ad = int(rng.integers(cfg.n_ads))
                dense = rng.normal(size=8)
                p = 1 / (1 + np.exp(-(taste[ad] + dense[0] - 1)))
                hist = rng.integers(1, cfg.n_ads, size=int(rng.integers(1, cfg.history)))
                f = {
                    "ad": tf.train.Feature(int64_list=tf.train.Int64List(value=[ad])),
                    "site": tf.train.Feature(
                        int64_list=tf.train.Int64List(value=[int(rng.integers(cfg.n_sites))])
                    ),
                    "history": tf.train.Feature(int64_list=tf.train.Int64List(value=hist)),
                    "dense": tf.train.Feature(float_list=tf.train.FloatList(value=dense)),
                    "clicked": tf.train.Feature(
                        int64_list=tf.train.Int64List(value=[int(rng.random() < p)])
                    ),
                }
                out.write(
                    tf.train.Example(features=tf.train.Features(feature=f)).SerializeToString()
                )
        paths.append(path)
    return paths


def build_dataset(cfg, paths):
    def parse(rows):
        ex = tf.io.parse_example(rows, FEATURES)
        hist = tf.sparse.to_dense(ex["history"])
        hist = hist[:, : cfg.history]
        hist = tf.pad(hist, [[0, 0], [0, cfg.history - tf.shape(hist)[1]]])
        hist.set_shape([None, cfg.history])
        ex["history"] = hist
        return ex, tf.cast(ex.pop("clicked"), tf.float32)

    ds = tf.data.TFRecordDataset(paths)
    ds = ds.shuffle(4096, seed=5).repeat().batch(cfg.batch_size)
    return ds.map(parse, num_parallel_calls=2).prefetch(2)


class ClickModel(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.ads = tf.keras.layers.Embedding(cfg.n_ads, cfg.dim)
        self.sites = tf.keras.layers.Embedding(cfg.n_sites, cfg.dim)
        self.mlp = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(512, activation="relu"),
                tf.keras.layers.Dense(512, activation="relu"),
                tf.keras.layers.Dense(1),
            ]
        )

    def call(self, ex):
        seen = tf.reduce_mean(self.ads(ex["history"]), axis=1)
        x = tf.concat([self.ads(ex["ad"]), self.sites(ex["site"]), seen, ex["dense"]], axis=1)
        return tf.squeeze(self.mlp(x), -1)


class RoundTrainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = ClickModel(cfg)
        self.optimizer = tf.keras.optimizers.Adam(cfg.learning_rate)
        self.loss = tf.keras.metrics.Mean()
        self.auc = tf.keras.metrics.AUC(from_logits=True)

    @tf.function(reduce_retracing=True)
    def step(self, ex, clicked):
        with tf.GradientTape() as tape:
            logits = self.model(ex)
            loss = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=clicked, logits=logits)
            )
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        self.loss.update_state(loss)
        self.auc.update_state(clicked, logits)

    def fit(self, ds):
        cfg = self.cfg
        for r in range(cfg.rounds):
            part = ds.skip(r * cfg.steps_per_round).take(cfg.steps_per_round)
            for ex, clicked in part:
                self.step(ex, clicked)
            if r % 5 == 4:
                print(
                    f"round {r + 1:3d}  loss {float(self.loss.result()):.4f}"
                    f"  auc {float(self.auc.result()):.4f}"
                )
            self.loss.reset_state()
            self.auc.reset_state()


def main():
    cfg = Config()
    tf.keras.utils.set_random_seed(3)
    paths = write_logs(cfg, tempfile.mkdtemp())
    RoundTrainer(cfg).fit(build_dataset(cfg, paths))


if __name__ == "__main__":
    main()
