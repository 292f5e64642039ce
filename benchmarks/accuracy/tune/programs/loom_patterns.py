"""Next-thread model for Jacquard loom cards; the context grows in three stages."""

from dataclasses import dataclass
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

THREADS = 28


@dataclass
class Stage:
    length: int
    batch: int
    steps: int


STAGES = [Stage(32, 64, 60), Stage(64, 64, 50), Stage(128, 64, 35)]


def punch_cards(n, seed):
    """Long threads sequences that repeat a motif with now and then a slip."""
    rng = np.random.default_rng(seed)
    out = np.empty(n, "int32")
    pos = 0
    while pos < n:
        motif = rng.integers(0, THREADS, rng.integers(5, 14))
        run = np.tile(motif, rng.integers(6, 20))
        slips = rng.random(len(run)) < 0.03
        run[slips] = rng.integers(0, THREADS, slips.sum())
        take = min(len(run), n - pos)
        out[pos : pos + take] = run[:take]
        pos += take
    return out


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.up, self.down = layers.Dense(4 * dim, activation="relu"), layers.Dense(dim)

    def call(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.n2(x)))


class LoomModel(keras.Model):
    def __init__(self, dim=128, depth=2, max_len=128):
        super().__init__()
        self.tok = layers.Embedding(THREADS, dim)
        self.pos = layers.Embedding(max_len, dim)
        self.blocks = [Block(dim, 4) for _ in range(depth)]
        self.norm = layers.LayerNormalization()
        self.out = layers.Dense(THREADS)

    def call(self, ids):
        x = self.tok(ids) + self.pos(tf.range(tf.shape(ids)[1]))
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x))


model, opt = LoomModel(), keras.optimizers.Adam(1e-3)


def lm_loss(ids):
    logits = model(ids[:, :-1])
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids[:, 1:], logits=logits)
    )


@tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
def train_step(ids):
    with tf.GradientTape() as tape:
        loss = lm_loss(ids)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def windows(cards, stage, rng):
    starts = rng.integers(0, len(cards) - stage.length - 1, stage.batch)
    return cards[starts[:, None] + np.arange(stage.length + 1)]


def main():
    keras.utils.set_random_seed(1801)
    rng = np.random.default_rng(1804)
    cards = punch_cards(200_000, seed=7)
    held = punch_cards(20_000, seed=8)
    model(tf.zeros((1, 8), tf.int32))
    opt.build(model.trainable_variables)
    for k, stage in enumerate(STAGES):
        t0, losses = time.time(), []
        for step in range(stage.steps):
            losses.append(train_step(windows(cards, stage, rng)))
            if (step + 1) % 20 == 0:
                print(f"stage {k} step {step + 1:3d} loss {np.mean(losses[-20:]):.3f}")
        val = float(lm_loss(windows(held, stage, rng)))
        print(f"stage {k} (length {stage.length}) held-out {val:.3f} in {time.time() - t0:.1f}s")


if __name__ == "__main__":
    main()
