"""Retrieval model training job (two-tower, in-batch softmax)."""

from __future__ import annotations

import dataclasses
import logging
import time
from typing import Iterator

import numpy as np
import tensorflow as tf

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO)
log = logging.getLogger("two_tower")


@dataclasses.dataclass(frozen=True)
class TowerConfig:
    num_users: int = 200_000
    num_items: int = 100_000
    embedding_dim: int = 48
    hidden: tuple[int, ...] = (768, 384)
    output_dim: int = 64
    temperature: float = 0.1


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    micro_batch: int = 384
    accumulation: int = 8
    optimizer_steps: int = 170
    learning_rate: float = 1e-3
    report_every: int = 10
    seed: int = 17


class Tower(tf.keras.layers.Layer):
    def __init__(self, rows: int, cfg: TowerConfig, name: str):
        super().__init__(name=name)
        self.table = tf.keras.layers.Embedding(rows, cfg.embedding_dim)
        self.mlp = tf.keras.Sequential(
            [tf.keras.layers.Dense(h, activation="relu") for h in cfg.hidden]
            + [tf.keras.layers.Dense(cfg.output_dim)]
        )

    def call(self, ids):
        return tf.math.l2_normalize(self.mlp(self.table(ids)), axis=-1)


class TwoTower(tf.keras.Model):
    def __init__(self, cfg: TowerConfig):
        super().__init__()
        self.cfg = cfg
        self.user = Tower(cfg.num_users, cfg, "user")
        self.item = Tower(cfg.num_items, cfg, "item")

    def call(self, inputs):
        users, items = inputs
        return (
            tf.matmul(self.user(users), self.item(items), transpose_b=True) / self.cfg.temperature
        )


class InteractionLog:
    """Synthetic click log: users have a taste group, items too."""

    def __init__(self, model_cfg: TowerConfig, seed: int):
        self._rng = np.random.default_rng(seed)
        self._m = model_cfg
        self._groups = 50

    def batches(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        per_group = self._m.num_items // self._groups
        while True:
            users = self._rng.integers(0, self._m.num_users, size)
            offset = (self._rng.power(0.4, size) * per_group).astype(np.int64)
            items = (users % self._groups) * per_group + np.minimum(offset, per_group - 1)
            yield users.astype(np.int32), items.astype(np.int32)


class Trainer:
    def __init__(self, model: TwoTower, cfg: TrainConfig):
        self.model = model
        self.cfg = cfg
        self.optimizer = tf.keras.optimizers.Adagrad(cfg.learning_rate * 20)
        self.model((tf.zeros([2], tf.int32), tf.zeros([2], tf.int32)))
        self.optimizer.build(self.model.trainable_variables)
        self.accumulators = [
            tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.model.trainable_variables
        ]

    @tf.function
    def _micro_step(self, users, items):
        with tf.GradientTape() as tape:
            logits = self.model((users, items))
            labels = tf.range(tf.shape(users)[0])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        grads = tape.gradient(loss, self.model.trainable_variables)
        for acc, grad in zip(self.accumulators, grads):
            acc.assign_add(tf.convert_to_tensor(grad) / self.cfg.accumulation)
        return loss

    @tf.function
    def _apply(self):
        self.optimizer.apply_gradients(
            zip([a.value() for a in self.accumulators], self.model.trainable_variables)
        )
        for acc in self.accumulators:
            acc.assign(tf.zeros_like(acc))

    def run(self, batches: Iterator[tuple[np.ndarray, np.ndarray]]) -> None:
        started = time.monotonic()
        window: list[float] = []
        for step in range(1, self.cfg.optimizer_steps + 1):
            micro_losses = []
            for _ in range(self.cfg.accumulation):
                users, items = next(batches)
                micro_losses.append(self._micro_step(tf.constant(users), tf.constant(items)))
            self._apply()
            window.append(float(tf.add_n(micro_losses)) / len(micro_losses))
            if step % self.cfg.report_every == 0:
                log.info(
                    "step=%d loss=%.4f elapsed=%.1fs",
                    step,
                    np.mean(window),
                    time.monotonic() - started,
                )
                window.clear()


def main() -> None:
    model_cfg, train_cfg = TowerConfig(), TrainConfig()
    tf.keras.utils.set_random_seed(train_cfg.seed)
    model = TwoTower(model_cfg)
    trainer = Trainer(model, train_cfg)
    clicks = InteractionLog(model_cfg, train_cfg.seed)
    log.info("trainable parameters: %.1fM", model.count_params() / 1e6)
    trainer.run(clicks.batches(train_cfg.micro_batch))
    log.info("done")


if __name__ == "__main__":
    main()
