"""Language of cuttlefish skin patterns: small causal transformer, longer sequences from stage to stage,
samples with a key/value cache at the end of each stage."""

import time
from dataclasses import dataclass, field

import numpy as np
import tensorflow as tf


@dataclass
class Plan:
    symbols: int = 24
    width: int = 128
    heads: int = 4
    blocks: int = 3
    longest: int = 96
    batch: int = 32
    stages: list = field(default_factory=lambda: [(24, 70), (48, 50), (96, 40)])
    seed: int = 606


def perform(rng, plan, n=400, length=900):
    """Each animal has a repertoire of motifs and repeats them with mistakes."""
    motifs = rng.integers(0, plan.symbols, (20, 6))
    shows = motifs[rng.integers(0, 20, (n, length // 6))].reshape(n, -1)
    slip = rng.random(shows.shape) < 0.03
    return np.where(slip, rng.integers(0, plan.symbols, shows.shape), shows).astype(np.int32)


class Block(tf.Module):
    def __init__(self, plan):
        super().__init__()
        d, L = plan.width, tf.keras.layers
        self.h = plan.heads
        self.qkv, self.proj = L.Dense(3 * d, use_bias=False), L.Dense(d)
        self.up, self.down = L.Dense(4 * d, activation="gelu"), L.Dense(d)
        self.n1, self.n2 = L.LayerNormalization(), L.LayerNormalization()

    def split(self, x):
        b, t = tf.shape(x)[0], tf.shape(x)[1]
        q, k, v = tf.split(self.qkv(self.n1(x)), 3, -1)
        return [
            tf.transpose(tf.reshape(u, [b, t, self.h, u.shape[-1] // self.h]), [0, 2, 1, 3])
            for u in (q, k, v)
        ]

    def finish(self, x, q, k, v, bias):
        a = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * q.shape[-1] ** -0.5 + bias)
        y = tf.transpose(tf.matmul(a, v), [0, 2, 1, 3])
        x = x + self.proj(tf.reshape(y, tf.shape(x)))
        return x + self.down(self.up(self.n2(x)))


class SkinModel(tf.Module):
    def __init__(self, plan):
        super().__init__()
        self.plan = plan
        self.emb = tf.Variable(tf.random.normal([plan.symbols, plan.width], stddev=0.1))
        self.pos = tf.Variable(tf.random.normal([plan.longest, plan.width], stddev=0.1))
        self.blocks = [Block(plan) for _ in range(plan.blocks)]
        self.last = tf.keras.layers.Dense(plan.symbols)
        self.opt = tf.keras.optimizers.Adam(1.5e-3)

    def weights(self):
        layers = [l for b in self.blocks for l in (b.qkv, b.proj, b.up, b.down, b.n1, b.n2)] + [
            self.last
        ]
        return [self.emb, self.pos] + [w for l in layers for w in l.trainable_variables]

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def train(self, seq):
        x, y = seq[:, :-1], seq[:, 1:]
        t = tf.shape(x)[1]
        bias = (1.0 - tf.linalg.band_part(tf.ones([t, t]), -1, 0)) * -1e9
        with tf.GradientTape() as tape:
            h = tf.gather(self.emb, x) + self.pos[:t]
            for b in self.blocks:
                h = b.finish(h, *b.split(h), bias)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, self.last(h)))
        w = self.weights()
        self.opt.apply_gradients(zip(tape.gradient(loss, w), w))
        return loss

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)])
    def sample(self, first, length):
        p, n = self.plan, tf.shape(first)[0]
        d = p.width // p.heads
        cache = tf.zeros([p.blocks, 2, n, p.heads, p.longest, d])
        out = tf.TensorArray(tf.int32, length)
        token, i = first, 0
        while i < length:
            out = out.write(i, token)
            slot = tf.one_hot(i, p.longest)[:, None]
            bias = tf.where(tf.range(p.longest) <= i, 0.0, -1e9)
            h = (tf.gather(self.emb, token) + self.pos[i])[:, None]
            fresh = []
            for j, b in enumerate(self.blocks):
                q, k, v = b.split(h)
                kv = cache[j] + slot * tf.stack([k, v])
                fresh.append(kv)
                h = b.finish(h, q, kv[0], kv[1], bias)
            cache = tf.stack(fresh)
            token = tf.random.categorical(self.last(h[:, 0]), 1, dtype=tf.int32)[:, 0]
            i += 1
        return tf.transpose(out.stack())


def windows(rng, shows, batch, length):
    rows = rng.integers(0, len(shows), batch)
    cols = rng.integers(0, shows.shape[1] - length - 1, batch)
    return shows[rows[:, None], cols[:, None] + np.arange(length + 1)]


def main(plan):
    tf.keras.utils.set_random_seed(plan.seed)
    rng = np.random.default_rng(plan.seed)
    shows = perform(rng, plan)
    model = SkinModel(plan)
    start = time.time()
    for length, updates in plan.stages:
        for u in range(updates):
            loss = model.train(tf.constant(windows(rng, shows, plan.batch, length)))
        line = model.sample(tf.constant([3]), length).numpy()[0]
        print(f"length {length}: loss {float(loss):.3f}", "".join(chr(97 + c) for c in line))
    print(f"done in {time.time() - start:.1f} s")


if __name__ == "__main__":
    main(Plan())
