"""Kilim motif classifier: pretrained patch transformer, only the attention-pool head is tuned.

Discriminative learning rates a la ULMFiT: every variable belongs to a group, each group
has a multiplier.  The body group is kept at its pretrained weights for this run.
"""

import argparse
import dataclasses
import time

import numpy as np
import tensorflow as tf

L = tf.keras.layers


@dataclasses.dataclass
class RugConfig:
    side: int = 32
    patch: int = 4
    dim: int = 96
    heads: int = 4
    depth: int = 4
    classes: int = 12
    batch: int = 96
    steps: int = 84
    lr: float = 3e-3
    multipliers: dict = dataclasses.field(default_factory=lambda: {"body": 0.0, "head": 1.0})


def weave(n, cfg, rng):
    """Procedural rugs: each class is one frequency/angle combination plus border."""
    y = rng.integers(0, cfg.classes, n)
    yy, xx = np.mgrid[0 : cfg.side, 0 : cfg.side] / cfg.side
    imgs = np.empty((n, cfg.side, cfg.side, 3), np.float32)
    for i, c in enumerate(y):
        ang, freq = (c % 4) * np.pi / 4, 3 + 2 * (c // 4)
        u = np.cos(ang) * xx + np.sin(ang) * yy
        base = np.sign(np.sin(2 * np.pi * freq * u + rng.uniform(0, 6)))
        imgs[i] = base[..., None] * rng.uniform(0.5, 1.0, 3) + rng.normal(
            0, 0.3, (cfg.side, cfg.side, 3)
        )
    return imgs, y.astype(np.int32)


class Block(L.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = L.LayerNormalization(), L.LayerNormalization()
        self.att = L.MultiHeadAttention(heads, dim // heads)
        self.fc1, self.fc2 = L.Dense(dim * 4, activation="gelu"), L.Dense(dim)

    def call(self, x):
        h = self.n1(x)
        x = x + self.att(h, h)
        return x + self.fc2(self.fc1(self.n2(x)))


class PatchBody(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__(name="body")
        self.proj = L.Conv2D(cfg.dim, cfg.patch, strides=cfg.patch)
        self.flat = L.Reshape((-1, cfg.dim))
        self.pos = self.add_weight(shape=((cfg.side // cfg.patch) ** 2, cfg.dim), name="pos")
        self.blocks = [Block(cfg.dim, cfg.heads) for _ in range(cfg.depth)]

    def call(self, x):
        x = self.flat(self.proj(x)) + self.pos
        for b in self.blocks:
            x = b(x)
        return x


class PoolHead(tf.keras.Model):
    def __init__(self, cfg):
        super().__init__(name="head")
        self.score = L.Dense(4)
        self.norm = L.LayerNormalization()
        self.out = L.Dense(cfg.classes)

    def call(self, tokens):
        w = tf.nn.softmax(self.score(tokens), axis=1)
        pooled = tf.einsum("bth,btd->bhd", w, tokens)
        return self.out(self.norm(tf.reshape(pooled, (-1, 4 * tokens.shape[-1]))))


class GroupedAdam:
    """Adam over all groups; the multiplier of a group scales its update."""

    def __init__(self, groups, lr, multipliers):
        self.vars = [v for name in groups for v in groups[name]]
        self.scale = [
            tf.Variable(multipliers[name], trainable=False) for name in groups for _ in groups[name]
        ]
        self.m = [tf.Variable(tf.zeros(v.shape)) for v in self.vars]
        self.v = [tf.Variable(tf.zeros(v.shape)) for v in self.vars]
        self.lr, self.t = lr, tf.Variable(0.0)

    def apply(self, grads):
        self.t.assign_add(1.0)
        c = self.lr * tf.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t)
        for g, w, s, m, v in zip(grads, self.vars, self.scale, self.m, self.v):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * tf.square(g))
            w.assign_sub(s * c * m / (tf.sqrt(v) + 1e-7))


def augment(x):
    x = tf.image.random_flip_left_right(x)
    x = tf.image.random_flip_up_down(x)
    return x + tf.random.normal(tf.shape(x), stddev=0.1)


class Finetuner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.body, self.head = PatchBody(cfg), PoolHead(cfg)
        self.head(self.body(tf.zeros((1, cfg.side, cfg.side, 3))))
        groups = {"body": self.body.trainable_variables, "head": self.head.trainable_variables}
        self.opt = GroupedAdam(groups, cfg.lr, cfg.multipliers)

    @tf.function
    def step(self, x, y):
        x = augment(x)
        with tf.GradientTape() as tape:
            logits = self.head(self.body(x))
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        grads = tape.gradient(loss, self.opt.vars)
        self.opt.apply(grads)
        hit = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, -1, tf.int32), y), tf.float32))
        return loss, hit


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=RugConfig.steps)
    cfg = RugConfig(steps=p.parse_args().steps)
    tf.keras.utils.set_random_seed(404)
    rng = np.random.default_rng(404)
    x, y = weave(1200, cfg, rng)
    ds = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(1200, seed=4)
        .repeat()
        .batch(cfg.batch)
        .prefetch(2)
    )
    tuner = Finetuner(cfg)
    print("body params", tuner.body.count_params(), "head params", tuner.head.count_params())
    t0 = time.time()
    for i, (bx, by) in enumerate(ds.take(cfg.steps), 1):
        loss, hit = tuner.step(bx, by)
        if i % 14 == 0:
            print(f"[{i:3d}/{cfg.steps}] loss={float(loss):.3f} acc={float(hit):.2f}")
    print(f"done in {time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
