"""Predict methylation of axolotl CpG islands from the sequence around them.

Stage 1 uses the annotated loci that we have on disk (here: a fixed synthetic
set), stage 2 goes on with mutated reads that feeder processes simulate.
"""

import multiprocessing as mp
import os
import time
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np

BASES = 4
MOTIF = np.array([1, 2, 1, 2, 0, 3])


@dataclass(frozen=True)
class Settings:
    width: int = 96
    batch: int = 160
    fixed_updates: int = 90
    read_updates: int = 240
    feeders: int = 3
    ahead: int = 6
    seed: int = 23


def make_loci(rng, n, width, mutate=0.0):
    seq = rng.integers(0, BASES, (n, width), dtype=np.int8)
    label = rng.random(n) < 0.5
    where = rng.integers(0, width - len(MOTIF), n)
    rows = np.flatnonzero(label)
    seq[rows[:, None], where[rows, None] + np.arange(len(MOTIF))] = MOTIF
    if mutate:
        flip = rng.random(seq.shape) < mutate
        seq = np.where(flip, rng.integers(0, BASES, seq.shape, dtype=np.int8), seq)
    return seq, label.astype(np.float32)


class ReadFeeder(mp.Process):
    def __init__(self, outbox, go, cfg, number):
        super().__init__(daemon=True)
        self.outbox, self.go, self.cfg, self.number = outbox, go, cfg, number

    def run(self):
        rng = np.random.default_rng(self.cfg.seed * 100 + self.number)
        self.go.wait()
        while True:
            item = make_loci(rng, self.cfg.batch, self.cfg.width, mutate=0.03)
            while self.outbox.full():
                pass
            self.outbox.put(item)


def build_net(tf, width):
    inp = tf.keras.Input((width,), dtype="int32")
    x = tf.keras.layers.Embedding(BASES, 16)(inp)
    x = tf.keras.layers.Conv1D(64, 7, padding="same", activation="relu")(x)
    x = tf.keras.layers.Conv1D(96, 5, padding="same", activation="relu")(x)
    x = tf.keras.layers.GlobalMaxPooling1D()(x)
    x = tf.keras.layers.Dense(64, activation="relu")(x)
    return tf.keras.Model(inp, tf.keras.layers.Dense(1)(x))


def main():
    cfg = Settings()
    ctx = mp.get_context("fork")
    outbox, go = ctx.Queue(cfg.ahead), ctx.Event()
    feeders = [ReadFeeder(outbox, go, cfg, i) for i in range(cfg.feeders)]
    for f in feeders:
        f.start()

    import tensorflow as tf

    tf.keras.utils.set_random_seed(cfg.seed)
    net = build_net(tf, cfg.width)
    opt = tf.keras.optimizers.AdamW(2e-3)
    acc = tf.keras.metrics.BinaryAccuracy(threshold=0.0)

    @tf.function
    def learn(seq, label):
        with tf.GradientTape() as tape:
            logit = net(seq, training=True)[:, 0]
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(label, logit))
        opt.apply_gradients(
            zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
        )
        acc.update_state(label[:, None], logit[:, None])
        return loss

    rng = np.random.default_rng(cfg.seed)
    loci, marks = make_loci(rng, 6000, cfg.width)
    began = time.time()
    for i in range(cfg.fixed_updates):
        pick = rng.integers(0, len(loci), cfg.batch)
        loss = learn(tf.constant(loci[pick], tf.int32), tf.constant(marks[pick]))
    print(
        f"annotated: loss {float(loss):.4f} acc {float(acc.result()):.3f} ({time.time() - began:.1f} s)"
    )

    go.set()
    acc.reset_state()
    for i in range(cfg.read_updates):
        seq, label = outbox.get()
        loss = learn(tf.constant(seq, tf.int32), tf.constant(label))
        if (i + 1) % 60 == 0:
            print(f"reads {i + 1}: loss {float(loss):.4f} acc {float(acc.result()):.3f}")
            acc.reset_state()
    for f in feeders:
        f.terminate()
        f.join()
    print(f"total {time.time() - began:.1f} s")


if __name__ == "__main__":
    main()
