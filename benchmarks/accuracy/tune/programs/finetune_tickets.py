"""Support ticket routing: fine-tune a pretrained text encoder, top layers first."""

import logging
import re
import string
from dataclasses import dataclass, field
from typing import Dict, List

import numpy as np
import tensorflow as tf

logger = logging.getLogger("tickets")
QUEUES = ["billing", "login", "shipping", "refund", "outage", "other"]


@dataclass
class Phase:
    name: str
    trainable: List[str]
    learning_rate: float
    epochs: int


@dataclass
class Settings:
    vocab: int = 4000
    dim: int = 160
    batch: int = 32
    buckets: List[int] = field(default_factory=lambda: [24, 48, 72])
    phases: List[Phase] = field(
        default_factory=lambda: [
            Phase("head", ["head"], 1e-3, 3),
            Phase("top", ["head", "block2"], 5e-4, 4),
            Phase("all", ["head", "block2", "block1", "block0", "embed"], 2e-4, 7),
        ]
    )


class Tickets:
    """Generates messy ticket texts; tokenization is ordinary Python."""

    def __init__(self, n: int, s: Settings, seed: int = 4):
        self.s = s
        rng = np.random.default_rng(seed)
        words = [
            "".join(rng.choice(list(string.ascii_lowercase), rng.integers(3, 9)))
            for _ in range(3000)
        ]
        self.texts, self.labels = [], rng.integers(0, len(QUEUES), n)
        for y in self.labels:
            length = int(rng.integers(8, 70))
            topical = rng.integers(y * 200, y * 200 + 200, length)
            general = rng.integers(1200, 3000, length)
            pick = np.where(rng.random(length) < 0.25, topical, general)
            self.texts.append(
                "Ticket #%d: " % rng.integers(1e6) + " ".join(words[i] for i in pick) + " !!"
            )
        self.ids: Dict[str, int] = {}

    def tokenize(self, text: tf.Tensor) -> np.ndarray:
        raw = text.numpy().decode("utf-8").lower()
        raw = re.sub(r"#\d+", " ", raw)
        tokens = re.findall(r"[a-z]+", raw)
        return np.array(
            [self.ids.setdefault(t, len(self.ids) % (self.s.vocab - 1) + 1) for t in tokens],
            np.int32,
        )

    def dataset(self) -> tf.data.Dataset:
        def encode(text, label):
            ids = tf.py_function(self.tokenize, [text], tf.int32)
            ids.set_shape([None])
            return ids, label

        ds = tf.data.Dataset.from_tensor_slices((self.texts, self.labels.astype("int32")))
        ds = ds.map(encode).cache().shuffle(len(self.texts))
        return ds.bucket_by_sequence_length(
            lambda ids, _: tf.shape(ids)[0],
            self.s.buckets,
            [self.s.batch] * (len(self.s.buckets) + 1),
        ).prefetch(2)


class Encoder(tf.keras.Model):
    def __init__(self, s: Settings):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(s.vocab, s.dim)
        self.blocks_ = [
            (
                tf.keras.layers.Conv1D(
                    s.dim * 2, 5, padding="same", activation="gelu", name=f"block{i}_a"
                ),
                tf.keras.layers.Conv1D(s.dim, 5, padding="same", name=f"block{i}_b"),
                tf.keras.layers.LayerNormalization(name=f"block{i}_n"),
            )
            for i in range(3)
        ]
        self.head = tf.keras.layers.Dense(len(QUEUES))

    def call(self, ids):
        mask = tf.cast(ids > 0, tf.float32)[..., None]
        x = self.embed(ids)
        for a, b, n in self.blocks_:
            x = n(x + b(a(x * mask)))
        return self.head(tf.reduce_sum(x * mask, 1) / (tf.reduce_sum(mask, 1) + 1e-6))

    def select(self, prefixes: List[str]) -> list:
        out = []
        for p in prefixes:
            if p.startswith("block"):
                out += [v for layer in self.blocks_[int(p[5:])] for v in layer.trainable_variables]
            else:
                out += getattr(self, p).trainable_variables
        return out


def make_step(model: Encoder, variables: list, lr: float):
    opt = tf.keras.optimizers.Adam(lr)
    opt.build(variables)

    @tf.function(
        input_signature=[tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None], tf.int32)]
    )
    def step(ids, y):
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch([v.value for v in variables])
            logits = model(ids)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        hits = tf.reduce_mean(tf.cast(tf.argmax(logits, -1, tf.int32) == y, tf.float32))
        return loss, hits

    return step


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    s = Settings()
    tf.keras.utils.set_random_seed(0)
    data = Tickets(1600, s).dataset()
    model = Encoder(s)
    model(tf.ones([1, 4], tf.int32))
    count = 0
    for phase in s.phases:
        step = make_step(model, model.select(phase.trainable), phase.learning_rate)
        for epoch in range(phase.epochs):
            losses, hits = [], []
            for ids, y in data:
                loss, hit = step(ids, y)
                losses.append(loss.numpy())
                hits.append(hit.numpy())
                count += 1
                if count % 10 == 0:
                    logger.debug("batch %d shape %s loss %.4f", count, ids.shape, losses[-1])
            logger.info(
                "%s epoch %d: loss %.4f acc %.3f (%d steps)",
                phase.name,
                epoch,
                np.mean(losses),
                np.mean(hits),
                count,
            )


if __name__ == "__main__":
    main()
