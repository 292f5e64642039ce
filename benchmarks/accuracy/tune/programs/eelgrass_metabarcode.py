"""Assign eelgrass-meadow eDNA reads to taxa with a k-mer embedding + conv tagger."""

import argparse
import gc
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

BASES = np.array(list("ACGT"))


@dataclass
class Config:
    reads: int = 1300
    length: int = 200
    taxa: int = 24
    k: int = 6
    batch: int = 64
    epochs: int = 3
    dim: int = 48
    lr: float = 2e-3
    seed: int = 11


class Amplicon:
    __slots__ = ("seq", "taxon", "meta", "quality")

    def __init__(self, seq, taxon, meta, quality):
        self.seq = seq
        self.taxon = taxon
        self.meta = meta
        self.quality = quality


class ReferenceLibrary:
    """Reference amplicons with a k-mer postings index, as in the old C tool."""

    def __init__(self, cfg, rng):
        self.cfg = cfg
        self.roots = rng.integers(0, 4, size=(cfg.taxa, cfg.length))
        self.entries = []
        self.postings = {}
        for t in range(cfg.taxa):
            for j in range(24):
                codes = self.mutate(self.roots[t], rng, 0.06)
                seq = "".join(BASES[codes])
                meta = {"site": [j % 9, t], "primer": ["MiFish", "12S"]}
                self.entries.append(Amplicon(seq, t, meta, [0.9, 0.8]))
                for p in range(0, cfg.length - cfg.k, 2):
                    self.postings.setdefault(seq[p : p + cfg.k], []).append([t, j, p])

    @staticmethod
    def mutate(codes, rng, rate):
        out = codes.copy()
        hit = rng.random(len(out)) < rate
        out[hit] = rng.integers(0, 4, size=int(hit.sum()))
        return out

    def hits(self, seq):
        """Number of reference postings that share the first k-mer."""
        return len(self.postings.get(seq[: self.cfg.k], ()))


def kmer_ids(codes, k):
    w = 4 ** np.arange(k)
    win = np.lib.stride_tricks.sliding_window_view(codes, k, axis=1)
    return (win @ w).astype(np.int32)


def simulate_reads(cfg, library, rng):
    y = rng.integers(0, cfg.taxa, size=cfg.reads).astype(np.int32)
    codes = library.roots[y].copy()
    hit = rng.random(codes.shape) < 0.12
    codes[hit] = rng.integers(0, 4, size=int(hit.sum()))
    return kmer_ids(codes, cfg.k), y


class TaxonNet(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.emb = tf.keras.layers.Embedding(4**cfg.k, cfg.dim)
        self.convs = [
            tf.keras.layers.Conv1D(96, 7, padding="same", activation="relu") for _ in range(3)
        ]
        self.norms = [tf.keras.layers.LayerNormalization() for _ in range(3)]
        self.head = tf.keras.layers.Dense(cfg.taxa)

    def call(self, ids):
        x = self.emb(ids)
        for conv, norm in zip(self.convs, self.norms):
            h = norm(conv(x))
            x = h if x.shape[-1] != h.shape[-1] else x + h
        return self.head(tf.reduce_mean(x, axis=1))


class Hook:
    def after_step(self, trainer, step, loss):
        pass

    def after_epoch(self, trainer, epoch):
        pass


class MemoryHygiene(Hook):
    """Keeps the resident size flat on the small field laptop."""

    def __init__(self):
        self.freed = 0

    def after_step(self, trainer, step, loss):
        self.freed += gc.collect()


class Progress(Hook):
    def __init__(self, every=20):
        self.every = every

    def after_step(self, trainer, step, loss):
        if step % self.every == 0:
            print(f"  step {step:4d}  loss {float(loss):.3f}")

    def after_epoch(self, trainer, epoch):
        print(f"epoch {epoch}: acc {float(trainer.acc.result()):.3f}")
        trainer.acc.reset_state()


class Trainer:
    def __init__(self, cfg, model, hooks):
        self.cfg, self.model, self.hooks = cfg, model, hooks
        self.opt = tf.keras.optimizers.Adam(cfg.lr)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.acc = tf.keras.metrics.SparseCategoricalAccuracy()
        self.step = 0

    @tf.function
    def train_step(self, ids, y):
        with tf.GradientTape() as tape:
            logits = self.model(ids, training=True)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        self.acc.update_state(y, logits)
        return loss

    def run(self, ds):
        for epoch in range(self.cfg.epochs):
            for ids, y in ds:
                loss = self.train_step(ids, y)
                self.step += 1
                for hook in self.hooks:
                    hook.after_step(self, self.step, loss)
            for hook in self.hooks:
                hook.after_epoch(self, epoch)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=Config.epochs)
    args = ap.parse_args()
    cfg = Config(epochs=args.epochs)
    tf.keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    library = ReferenceLibrary(cfg, rng)
    print(f"library: {len(library.entries)} amplicons, {len(library.postings)} k-mers")
    ids, y = simulate_reads(cfg, library, rng)
    ds = (
        tf.data.Dataset.from_tensor_slices((ids, y))
        .shuffle(cfg.reads, seed=cfg.seed)
        .batch(cfg.batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    trainer = Trainer(cfg, TaxonNet(cfg), [MemoryHygiene(), Progress()])
    t0 = time.time()
    trainer.run(ds)
    print(
        f"trained {trainer.step} steps in {time.time() - t0:.1f}s, "
        f"root k-mer hits {library.hits(library.entries[0].seq)}"
    )


if __name__ == "__main__":
    main()
