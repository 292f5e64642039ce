"""Learning to rank shop items from pairs of clicks (RankNet)."""

import os
import tempfile
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    queries: int = 4000
    items: int = 6000
    dim: int = 64
    pairs: int = 1536
    sessions: int = 48
    steps: int = 400
    lr: float = 1e-3


cfg = Config()
rng = np.random.default_rng(8)
logdir = os.path.join(tempfile.mkdtemp(), "ranknet")
writer = tf.summary.create_file_writer(logdir)


class Ranker(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.query = tf.keras.layers.Embedding(cfg.queries, cfg.dim)
        self.item = tf.keras.layers.Embedding(cfg.items, cfg.dim)
        self.hidden = [tf.keras.layers.Dense(256, activation="relu") for _ in range(3)]
        self.score = tf.keras.layers.Dense(1)

    def call(self, inputs):
        q, i = inputs
        x = tf.concat([self.query(q), self.item(i), self.query(q) * self.item(i)], -1)
        for layer in self.hidden:
            x = layer(x)
        return self.score(x)[:, 0]


class ClickLog:
    """The shop's log, without the sessions that we have had already."""

    def __init__(self):
        self.taste = rng.normal(size=(cfg.queries, 8))
        self.kind = rng.normal(size=(cfg.items, 8))
        self.known = []

    def is_new(self, session):
        return session not in self.known

    def read(self):
        fresh = []
        while len(fresh) < cfg.sessions:
            session = (int(rng.integers(cfg.queries)), int(rng.integers(cfg.items)))
            if self.is_new(session):
                self.known.append(session)
                fresh.append(session)
        return fresh

    def pairs(self):
        fresh = self.read()
        q = np.array([s[0] for s in fresh])[rng.integers(0, len(fresh), cfg.pairs)]
        a, b = rng.integers(0, cfg.items, (2, cfg.pairs))
        liking = lambda i: (self.taste[q] * self.kind[i]).sum(-1)
        swap = liking(a) < liking(b)
        return tuple(tf.constant(v) for v in (q, np.where(swap, b, a), np.where(swap, a, b)))


model = Ranker()
optimizer = tf.keras.optimizers.Adam(cfg.lr)


@tf.function
def train_step(q, better, worse):
    with tf.GradientTape() as tape:
        margin = model((q, better)) - model((q, worse))
        loss = tf.reduce_mean(tf.nn.softplus(-margin))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss, tf.reduce_mean(tf.cast(margin > 0, tf.float32))


def log_to_board(step, loss, accuracy):
    with writer.as_default(step=step):
        tf.summary.scalar("loss", loss)
        tf.summary.scalar("pair_accuracy", accuracy)
        for layer in [*model.hidden, model.score]:
            for w in layer.trainable_variables:
                tf.summary.histogram(w.path, w.value)


clicks = ClickLog()
for step in range(cfg.steps):
    loss, accuracy = train_step(*clicks.pairs())
    log_to_board(step, loss, accuracy)
    if step % 50 == 0:
        print(f"{step:5d}  loss {loss:.4f}  pairs right {accuracy:.3f}")
writer.close()
