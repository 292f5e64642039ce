"""Feed ranking: two-tower model with logged impressions stored as TFRecords."""

from __future__ import annotations

import dataclasses
import logging
import pathlib
import tempfile
from typing import Dict, List

import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
log = logging.getLogger("ranker")


@dataclasses.dataclass(frozen=True)
class DataConfig:
    num_users: int = 60_000
    num_items: int = 12_000
    num_shards: int = 8
    rows_per_shard: int = 20_000
    batch_size: int = 96


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    dim: int = 32
    hidden: List[int] = dataclasses.field(default_factory=lambda: [1536, 640])
    l2: float = 1e-7


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    epochs: int = 6
    steps_per_epoch: int = 250
    learning_rate: float = 0.05
    seed: int = 23


@dataclasses.dataclass(frozen=True)
class Config:
    data: DataConfig = DataConfig()
    model: ModelConfig = dataclasses.field(default_factory=ModelConfig)
    train: TrainConfig = TrainConfig()


def write_shards(cfg: DataConfig, root: pathlib.Path, seed: int) -> List[str]:
    rng = np.random.default_rng(seed)
    u_bias = rng.normal(size=cfg.num_users)
    i_bias = rng.normal(size=cfg.num_items)
    paths = []
    for shard in range(cfg.num_shards):
        path = str(root / f"impressions-{shard:03d}.tfrecord")
        users = rng.integers(0, cfg.num_users, cfg.rows_per_shard)
        items = rng.integers(0, cfg.num_items, cfg.rows_per_shard)
        logit = u_bias[users] + i_bias[items]
        clicks = rng.random(cfg.rows_per_shard) < 1 / (1 + np.exp(-logit))
        packed = np.stack([users, items, clicks], axis=1).astype(np.int32)
        with tf.io.TFRecordWriter(path) as w:
            for row in packed:
                w.write(row.tobytes())
        paths.append(path)
    return paths


def decode(record: tf.Tensor) -> Dict[str, tf.Tensor]:
    row = tf.io.decode_raw(record, tf.int32)
    return {
        "user": row[0],
        "item": row[1],
        "hour": row[0] % 24,
        "click": tf.cast(row[2], tf.float32),
    }


class Impressions:
    def __init__(self, cfg: DataConfig, files: List[str]):
        self.cfg = cfg
        self.stream = (
            tf.data.TFRecordDataset(files)
            .map(decode, num_parallel_calls=2)
            .repeat()
            .batch(cfg.batch_size, drop_remainder=True)
        )

    def epoch(self, index: int, steps: int) -> tf.data.Dataset:
        return self.stream.skip(index * steps).take(steps).prefetch(4)


class TwoTower(tf.Module):
    def __init__(self, data: DataConfig, cfg: ModelConfig, seed: int):
        super().__init__()
        rng = tf.random.Generator.from_seed(seed)
        self.l2 = cfg.l2
        self.user_table = tf.Variable(
            rng.normal([data.num_users, cfg.dim], stddev=0.05), name="users"
        )
        self.item_table = tf.Variable(
            rng.normal([data.num_items, cfg.dim], stddev=0.05), name="items"
        )
        self.hour_table = tf.Variable(rng.normal([24, 8], stddev=0.05), name="hours")
        sizes = [2 * cfg.dim + 8, *cfg.hidden, 1]
        self.kernels = [
            tf.Variable(rng.normal([a, b], stddev=(2.0 / a) ** 0.5), name=f"w{i}")
            for i, (a, b) in enumerate(zip(sizes, sizes[1:]))
        ]
        self.biases = [tf.Variable(tf.zeros([b]), name=f"b{i}") for i, b in enumerate(sizes[1:])]

    def __call__(self, batch: Dict[str, tf.Tensor]) -> tf.Tensor:
        x = tf.concat(
            [
                tf.nn.embedding_lookup(self.user_table, batch["user"]),
                tf.nn.embedding_lookup(self.item_table, batch["item"]),
                tf.nn.embedding_lookup(self.hour_table, batch["hour"]),
            ],
            axis=1,
        )
        for i, (k, b) in enumerate(zip(self.kernels, self.biases)):
            x = x @ k + b
            if i < len(self.kernels) - 1:
                x = tf.nn.relu(x)
        return x[:, 0]

    def penalty(self) -> tf.Tensor:
        tables = (self.user_table, self.item_table)
        return self.l2 * tf.add_n([tf.nn.l2_loss(t) for t in tables])


class Trainer:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.model = TwoTower(cfg.data, cfg.model, cfg.train.seed)
        self.optimizer = tf.compat.v1.train.AdagradOptimizer(cfg.train.learning_rate)
        self.auc = tf.keras.metrics.AUC(num_thresholds=50)

    @tf.function
    def train_step(self, batch: Dict[str, tf.Tensor]) -> tf.Tensor:
        with tf.GradientTape() as tape:
            logits = self.model(batch)
            loss = tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=batch["click"], logits=logits)
            )
            loss += self.model.penalty()
        variables = self.model.trainable_variables
        grads = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(grads, variables))
        self.auc.update_state(batch["click"], tf.sigmoid(logits))
        return loss

    def fit(self, data: Impressions) -> None:
        t = self.cfg.train
        for epoch in range(t.epochs):
            self.auc.reset_state()
            total = 0.0
            for batch in data.epoch(epoch, t.steps_per_epoch):
                total += float(self.train_step(batch))
            log.info(
                "epoch %d: loss %.4f auc %.4f",
                epoch,
                total / t.steps_per_epoch,
                float(self.auc.result()),
            )


def main() -> None:
    cfg = Config()
    tf.random.set_seed(cfg.train.seed)
    with tempfile.TemporaryDirectory(prefix="feed_ranker_") as tmp:
        files = write_shards(cfg.data, pathlib.Path(tmp), cfg.train.seed)
        Trainer(cfg).fit(Impressions(cfg.data, files))


if __name__ == "__main__":
    main()
