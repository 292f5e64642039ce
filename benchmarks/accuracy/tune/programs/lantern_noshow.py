"""No-shows at a lantern-boat booking desk: tabular model with embeddings,
watched by a running AUC."""

import time
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class DeskConfig:
    bookings: int = 96_000
    piers: int = 40
    agents: int = 300
    numeric: int = 10
    batch: int = 512
    epochs: int = 4
    report_every: int = 80
    hidden: tuple = field(default=(384, 192, 64))


def book(cfg, rng):
    pier = rng.integers(0, cfg.piers, cfg.bookings)
    agent = rng.integers(0, cfg.agents, cfg.bookings)
    num = rng.normal(0, 1, (cfg.bookings, cfg.numeric)).astype("float32")
    pier_mood = rng.normal(0, 0.7, cfg.piers)
    agent_mood = rng.normal(0, 0.9, cfg.agents)
    logit = (
        pier_mood[pier]
        + agent_mood[agent]
        + 0.8 * num[:, 0] * num[:, 1]
        - 0.6 * np.abs(num[:, 2])
        + 0.5 * num[:, 3]
        - 0.8
    )
    y = (rng.random(cfg.bookings) < 1 / (1 + np.exp(-logit))).astype("float32")
    return {"pier": pier.astype("int32"), "agent": agent.astype("int32"), "num": num}, y


class NoShowNet(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.pier = layers.Embedding(cfg.piers, 8)
        self.agent = layers.Embedding(cfg.agents, 16)
        self.body = keras.Sequential(
            [layers.Dense(h, activation="gelu") for h in cfg.hidden] + [layers.Dense(1)]
        )

    def call(self, row, training=False):
        x = tf.concat([self.pier(row["pier"]), self.agent(row["agent"]), row["num"]], -1)
        return self.body(x, training=training)[:, 0]


class RankWatch:
    """Keeps what the model said and tells how well it separates the guests."""

    def __init__(self):
        self.truth = []
        self.said = []
        self.best = 0.0

    def note(self, y, p):
        self.truth.append(y)
        self.said.append(p)
        auc = self.auc()
        self.best = max(self.best, auc)
        return auc

    def auc(self):
        y = tf.concat(self.truth, axis=0).numpy()
        p = tf.concat(self.said, axis=0).numpy()
        ranks = np.empty(len(p))
        ranks[np.argsort(p)] = np.arange(1, len(p) + 1)
        pos = y.sum()
        neg = len(y) - pos
        if pos == 0 or neg == 0:
            return 0.5
        return float((ranks[y > 0].sum() - pos * (pos + 1) / 2) / (pos * neg))


def make_step(net, opt):
    bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def step(row, y):
        with tf.GradientTape() as tape:
            logit = net(row, training=True)
            loss = bce(y, logit)
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss, tf.sigmoid(logit)

    return step


def main():
    cfg = DeskConfig()
    keras.utils.set_random_seed(5)
    rng = np.random.default_rng(5)
    rows, y = book(cfg, rng)
    cut = int(len(y) * 0.9)
    train = (
        tf.data.Dataset.from_tensor_slices(({k: v[:cut] for k, v in rows.items()}, y[:cut]))
        .batch(cfg.batch, drop_remainder=True)
        .cache()
        .shuffle(200, seed=9)
        .prefetch(4)
    )
    net = NoShowNet(cfg)
    net({k: v[:2] for k, v in rows.items()})
    opt = keras.optimizers.Adam(1.5e-3)
    opt.build(net.trainable_variables)
    step = make_step(net, opt)
    watch = RankWatch()

    begin, n = time.time(), 0
    for epoch in range(cfg.epochs):
        for row, label in train:
            loss, p = step(row, label)
            auc = watch.note(label, p)
            n += 1
            if n % cfg.report_every == 0:
                print(f"epoch {epoch} step {n:4d} loss {float(loss):.4f} auc {auc:.4f}")
    print(f"train {time.time() - begin:.2f}s, {n} steps, best running auc {watch.best:.4f}")

    test_rows = {k: v[cut:] for k, v in rows.items()}
    final = RankWatch()
    print(f"held-out auc {final.note(tf.constant(y[cut:]), net(test_rows)):.4f}")


if __name__ == "__main__":
    main()
