"""Classify one-line weather remarks of 18th-century almanacs into seven kinds of weather."""

import dataclasses
import gc
import random
import time
from collections import Counter

import numpy as np
import tensorflow as tf

KINDS = ["frost", "thaw", "gale", "fog", "rain", "drought", "thunder"]
SYLL = "ba ke lo mir thu wen ost gra fei sul dra pho yel nim qua ris tov".split()


@dataclasses.dataclass
class Options:
    remarks: int = 6000
    vocab: int = 900
    batch: int = 32
    epochs: int = 6
    dim: int = 64
    lr: float = 1.5e-3
    long_from: int = 1
    seed: int = 1752


@dataclasses.dataclass
class Remark:
    tokens: list
    kind: int
    year: int


class Almanac:
    def __init__(self, opt):
        self.rng = random.Random(opt.seed)
        self.words = [
            "".join(self.rng.choices(SYLL, k=self.rng.randint(2, 4))) for _ in range(opt.vocab)
        ]
        self.themes = [self.rng.sample(self.words, 45) for _ in KINDS]
        self.remarks = [self.write(i) for i in range(opt.remarks)]

    def write(self, i):
        kind = self.rng.randrange(len(KINDS))
        n = min(4 + int(self.rng.expovariate(1 / 14)), 56)
        tokens = [
            self.rng.choice(self.themes[kind])
            if self.rng.random() < 0.22
            else self.rng.choice(self.words)
            for _ in range(n)
        ]
        return Remark(tokens, kind, 1700 + i % 99)

    def index(self):
        counts = Counter(w for r in self.remarks for w in r.tokens)
        return {w: k + 1 for k, (w, _) in enumerate(counts.most_common())}


class Batches:
    """Remarks in batches of about the same length, shuffled as batches."""

    def __init__(self, remarks, index, opt):
        self.index, self.opt = index, opt
        self.rng = random.Random(opt.seed + 1)
        self.remarks = sorted(remarks, key=lambda r: len(r.tokens))

    def pad(self, rows):
        width = max(len(r.tokens) for r in rows)
        ids = np.zeros((len(rows), width), "int32")
        for i, r in enumerate(rows):
            ids[i, : len(r.tokens)] = [self.index[w] for w in r.tokens]
        return ids, np.array([r.kind for r in rows], "int32")

    def epoch(self, n):
        usable = (
            self.remarks
            if n >= self.opt.long_from
            else [r for r in self.remarks if len(r.tokens) <= 12]
        )
        b = self.opt.batch
        starts = list(range(0, len(usable) - b + 1, b))
        self.rng.shuffle(starts)
        for s in starts:
            yield self.pad(usable[s : s + b])


class Reader(tf.keras.Model):
    def __init__(self, vocab, opt):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(vocab + 1, opt.dim)
        self.conv = tf.keras.layers.Conv1D(opt.dim, 3, padding="same", activation="relu")
        self.score = tf.keras.layers.Dense(1)
        self.out = tf.keras.layers.Dense(len(KINDS))

    def call(self, ids, training=False):
        h = self.conv(self.embed(ids))
        real = tf.cast(ids > 0, tf.float32)[..., None]
        weight = tf.nn.softmax(self.score(h) - 1e9 * (1 - real), axis=1)
        return self.out(tf.reduce_sum(weight * h, axis=1))


def main():
    opt = Options()
    tf.keras.utils.set_random_seed(opt.seed)
    almanac = Almanac(opt)
    index = almanac.index()
    cut = int(0.9 * opt.remarks)
    train, test = (
        Batches(almanac.remarks[:cut], index, opt),
        Batches(almanac.remarks[cut:], index, opt),
    )
    model = Reader(len(index), opt)
    model(np.zeros((2, 8), "int32"))
    adam = tf.keras.optimizers.Adam(opt.lr)
    adam.build(model.trainable_variables)
    ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(ids, kind):
        with tf.GradientTape() as tape:
            loss = ce(kind, model(ids, training=True))
        adam.apply_gradients(
            zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        )
        return loss

    for epoch in range(opt.epochs):
        t0, losses = time.time(), []
        for ids, kind in train.epoch(epoch):
            losses.append(float(step(ids, kind)))
            if len(losses) % 32 == 0:
                gc.collect()
        print(
            f"epoch {epoch}: {len(losses)} batches, loss {np.mean(losses):.4f}, {time.time() - t0:.1f}s"
        )
    right = [
        int(k) == int(g)
        for ids, kind in test.epoch(opt.epochs)
        for k, g in zip(kind, model(ids).numpy().argmax(1))
    ]
    print(f"right on {np.mean(right):.1%} of {len(right)} later remarks")


if __name__ == "__main__":
    main()
