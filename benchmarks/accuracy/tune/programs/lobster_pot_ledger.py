"""Online catch forecasting for lobster pots. Hauls arrive in a stream; every haul is
booked in a ledger of Python records (needed for the season's report) and feeds the net."""

import argparse
import gc
import time
from collections import defaultdict

import numpy as np
import tensorflow as tf


class Haul:
    def __init__(self, pot, tide, catch):
        self.pot = pot
        self.tide = tide
        self.catch = catch
        self.remarks = []


class Ledger:
    def __init__(self):
        self.by_pot = defaultdict(list)

    def book(self, pots, tide, catch):
        for p, c in zip(pots.tolist(), catch.tolist()):
            self.by_pot[p].append(Haul(p, tide, c))

    def best(self, k=3):
        mean = {p: sum(h.catch for h in hs) / len(hs) for p, hs in self.by_pot.items()}
        return sorted(mean, key=mean.get)[-k:]


class Sea:
    def __init__(self, pots, rng):
        self.rng = rng
        self.depth = rng.uniform(5, 60, pots).astype("float32")
        self.rock = rng.uniform(0, 1, pots).astype("float32")
        self.pots = pots

    def haul(self, tide, n):
        p = self.rng.integers(0, self.pots, n)
        temp = 12 + 4 * np.sin(tide / 50) + self.rng.normal(size=n)
        bait = self.rng.normal(size=(n, 28))
        x = np.column_stack(
            [self.depth[p] / 60, self.rock[p], temp / 12, np.full(n, tide % 2), bait]
        )
        rate = np.exp(0.8 * self.rock[p] - (self.depth[p] - 25) ** 2 / 900 + 0.1 * bait[:, 0])
        return p, x.astype("float32"), self.rng.poisson(rate).astype("float32")


class Forecaster(tf.keras.Model):
    def __init__(self, width=768):
        super().__init__()
        self.body = [tf.keras.layers.Dense(width, activation="gelu") for _ in range(3)]
        self.rate = tf.keras.layers.Dense(1)

    def call(self, x):
        for layer in self.body:
            x = layer(x)
        return self.rate(x)[:, 0]


def make_step(model, opt):
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.log_poisson_loss(y, model(x)))
        g = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(g, model.trainable_variables))
        return loss

    return step


def close_tide(recent, keep=50):
    """tidy up now and then so that the harbour's old PC keeps memory free"""
    del recent[:-keep]
    gc.collect()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tides", type=int, default=160)
    ap.add_argument("--hauls", type=int, default=512)
    ap.add_argument("--pots", type=int, default=900)
    ap.add_argument("--seed", type=int, default=19)
    a = ap.parse_args()
    tf.keras.utils.set_random_seed(a.seed)
    sea, ledger = Sea(a.pots, np.random.default_rng(a.seed)), Ledger()
    model, opt = Forecaster(), tf.keras.optimizers.Adam(3e-4)
    model(tf.zeros((1, 32)))
    opt.build(model.trainable_variables)
    step = make_step(model, opt)

    begun = time.perf_counter()
    recent = []
    for tide in range(a.tides):
        pots, x, y = sea.haul(tide, a.hauls)
        loss = step(tf.constant(x), tf.constant(y))
        ledger.book(pots, tide, y)
        recent.append(loss)
        if (tide + 1) % 6 == 0:
            close_tide(recent)
        if (tide + 1) % 40 == 0:
            mean = np.mean([float(v) for v in recent])
            print(f"tide {tide + 1}: poisson loss {mean:.4f}")
    print("best pots", ledger.best())
    print(f"season took {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main()
