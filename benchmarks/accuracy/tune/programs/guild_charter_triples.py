"""Link prediction in a ledger of medieval guilds (master, relation, apprentice), trained batch by batch."""

import argparse
import collections
import gc
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

RELATIONS = ["taught", "married_into", "owed_silver_to", "vouched_for", "sued", "succeeded"]


class Ledger:
    """Facts by head and relation, so that a corrupted triple is never a true one."""

    def __init__(self, rng, people, facts):
        self.people = people
        trade = rng.integers(0, 12, people)
        head = rng.integers(0, people, facts)
        rel = rng.integers(0, len(RELATIONS), facts)
        tail = rng.integers(0, people, facts)
        fits = (trade[tail] - trade[head]) % 12 == rel * 2
        keep = fits | (rng.random(facts) < 0.05)
        self.triples = np.stack([head, rel, tail], 1)[keep].astype(np.int32)
        self.known = collections.defaultdict(set)
        for h, r, t in self.triples.tolist():
            self.known[(h, r)].add(t)
        self.names = {i: ("guildsman", f"no. {i}", {"trade": int(trade[i])}) for i in range(people)}

    def corrupt(self, rng, batch):
        tails = rng.integers(0, self.people, len(batch))
        for i, (h, r, _) in enumerate(batch.tolist()):
            while tails[i] in self.known[(h, r)]:
                tails[i] = rng.integers(0, self.people)
        bad = batch.copy()
        bad[:, 2] = tails
        return bad


def build(people, width, lr):
    triple = keras.Input((3,), dtype="int32")
    person = keras.layers.Embedding(people, width)
    relation = keras.layers.Embedding(len(RELATIONS), width)
    h, r, t = person(triple[:, 0]), relation(triple[:, 1]), person(triple[:, 2])
    z = keras.layers.Concatenate()([h * r, t * r, h - t, h * t])
    z = keras.layers.Dense(640, activation="swish")(z)
    z = keras.layers.Dense(640, activation="swish")(z)
    out = keras.layers.Dense(1)(z)
    model = keras.Model(triple, out)
    model.compile(
        keras.optimizers.Adam(lr),
        keras.losses.BinaryCrossentropy(from_logits=True),
        jit_compile=False,
    )
    return model


class Clerk:
    def __init__(self, ledger, model, args):
        self.ledger, self.model, self.args = ledger, model, args
        self.rng = np.random.default_rng(args.seed + 1)
        self.history = []

    def batches(self):
        order = self.rng.permutation(len(self.ledger.triples))
        size = self.args.batch // 2
        for i in range(0, len(order) - size + 1, size):
            good = self.ledger.triples[order[i : i + size]]
            bad = self.ledger.corrupt(self.rng, good)
            yield (
                np.concatenate([good, bad]),
                np.repeat([1.0, 0.0], size).astype(np.float32)[:, None],
            )

    def one_batch(self, x, y):
        loss = self.model.train_on_batch(x, y)
        self.history.append(float(loss))
        if len(self.history) % 3 == 0:
            self.tidy()

    def tidy(self):
        # the ledger is large, we had trouble with the 4 GB laptop
        gc.collect()

    def train(self):
        for epoch in range(self.args.epochs):
            tick = time.time()
            before = len(self.history)
            for x, y in self.batches():
                self.one_batch(x, y)
            print(
                f"epoch {epoch}: loss {np.mean(self.history[before:]):.4f}  "
                f"{len(self.history) - before} batches, {time.time() - tick:.2f} s"
            )


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--people", type=int, default=2500)
    p.add_argument("--facts", type=int, default=200000)
    p.add_argument("--batch", type=int, default=1536)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=1387)
    args = p.parse_args()
    keras.utils.set_random_seed(args.seed)
    ledger = Ledger(np.random.default_rng(args.seed), args.people, args.facts)
    print(len(ledger.triples), "facts on", len(ledger.names), "guildsmen")
    clerk = Clerk(ledger, build(args.people, args.width, args.lr), args)
    tick = time.time()
    clerk.train()
    probe = ledger.triples[:2000]
    score = clerk.model.predict(probe, batch_size=2000, verbose=0)
    print("true facts above zero:", round(float((score > 0).mean()), 3))
    print("done in %.1f s" % (time.time() - tick))


if __name__ == "__main__":
    main()
