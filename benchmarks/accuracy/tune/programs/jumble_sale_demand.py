"""Online demand model for jumble sale stalls: events come as a stream, features are made
from what each stall sold lately, and a small GRU learns from mini-batches as they fill."""

import argparse
import math
from typing import NamedTuple

import numpy as np
import tensorflow as tf


class Sale(NamedTuple):
    stall: int
    time: float
    price: float
    kind: int


class SaleStream:
    """Simulated till events of many stalls, in time order."""

    def __init__(self, stalls, seed):
        self.rng = np.random.default_rng(seed)
        self.level = self.rng.uniform(1.0, 6.0, stalls)
        self.stalls = stalls
        self.clock = 0.0

    def __iter__(self):
        while True:
            self.clock += float(self.rng.exponential(0.02))
            stall = int(self.rng.integers(self.stalls))
            kind = int(self.rng.integers(8))
            season = 1 + 0.3 * math.sin(self.clock / 20)
            price = self.level[stall] * season * (1 + kind / 10)
            price *= math.exp(float(self.rng.normal(0, 0.15)))
            yield Sale(stall, self.clock, price, kind)


class FeatureBuilder:
    HISTORY = 12

    def __init__(self, window):
        self.window = window
        self.log = []

    def features(self, sale):
        recent = [s for s in self.log if s.stall == sale.stall and sale.time - s.time < self.window]
        seq = np.zeros((self.HISTORY, 4), "float32")
        for k, s in enumerate(recent[-self.HISTORY :]):
            seq[k] = (s.price / 5, sale.time - s.time, s.kind / 8, 1.0)
        prices = [s.price for s in recent]
        mean = sum(prices) / len(prices) if prices else 0.0
        top = max(prices) if prices else 0.0
        flat = np.array(
            [
                mean / 5,
                top / 5,
                len(recent) / 20,
                sale.kind / 8,
                math.sin(sale.time / 20),
                math.cos(sale.time / 20),
            ],
            "float32",
        )
        return seq, flat

    def record(self, sale):
        self.log.append(sale)


def mini_batches(stream, builder, size):
    seqs, flats, targets = [], [], []
    for sale in stream:
        seq, flat = builder.features(sale)
        builder.record(sale)
        seqs.append(seq)
        flats.append(flat)
        targets.append(math.log1p(sale.price))
        if len(seqs) == size:
            yield np.stack(seqs), np.stack(flats), np.array(targets, "float32")
            seqs, flats, targets = [], [], []


class DemandModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.gru = tf.keras.layers.GRU(48)
        self.hidden = tf.keras.layers.Dense(64, activation="relu")
        self.drop = tf.keras.layers.Dropout(0.1)
        self.head = tf.keras.layers.Dense(2)

    def call(self, inputs, training=False):
        seq, flat = inputs
        h = tf.concat([self.gru(seq), flat], axis=-1)
        return self.head(self.drop(self.hidden(h), training=training))


def nll(y, out):
    mean, log_scale = out[:, 0], tf.clip_by_value(out[:, 1], -4.0, 2.0)
    return tf.reduce_mean(0.5 * tf.square((y - mean) * tf.exp(-log_scale)) + log_scale)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--stalls", type=int, default=60)
    ap.add_argument("--steps", type=int, default=540)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--window", type=float, default=25.0)
    args = ap.parse_args()

    tf.keras.utils.set_random_seed(6)
    model = DemandModel()
    opt = tf.keras.optimizers.Adam(1e-3)

    @tf.function
    def update(seq, flat, y):
        with tf.GradientTape() as tape:
            loss = nll(y, model((seq, flat), training=True))
        g = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(g, model.trainable_variables))
        return loss

    builder = FeatureBuilder(args.window)
    feed = mini_batches(SaleStream(args.stalls, 6), builder, args.batch)
    smooth = None
    for step in range(1, args.steps + 1):
        loss = update(*next(feed))
        if step % 20 == 0:
            value = float(loss)
            smooth = value if smooth is None else 0.8 * smooth + 0.2 * value
            print(f"step {step} nll {value:.3f} smooth {smooth:.3f}", flush=True)


if __name__ == "__main__":
    main()
