"""Causal transformer over change-ringing rows; the touches it learns get longer by stages."""

import argparse
import time

import numpy as np
import tensorflow as tf

BELLS = 8
VOCAB = BELLS + 1
STAGES = [(0, 24), (120, 48), (220, 96)]


def ring_touch(rng, length):
    """A touch of random plain hunt with calls, flattened to a row of bell numbers."""
    row = list(range(1, BELLS + 1))
    out = []
    swap = 0
    while len(out) < length + 1:
        out.extend(row)
        first = swap % 2
        if rng.random() < 0.08:
            first = 2
        for i in range(first, BELLS - 1, 2):
            row[i], row[i + 1] = row[i + 1], row[i]
        swap += 1
    start = rng.integers(0, len(out) - length) if len(out) > length + 1 else 0
    return out[start : start + length + 1]


def library(rng, n, length):
    return np.array([ring_touch(rng, length)[: length + 1] for _ in range(n)], "int32")


class Decoder(tf.keras.Model):
    def __init__(self, dim=64, depth=3, heads=4, longest=96):
        super().__init__()
        self.tok = tf.keras.layers.Embedding(VOCAB, dim)
        self.pos = tf.keras.layers.Embedding(longest, dim)
        self.blocks = []
        for _ in range(depth):
            self.blocks.append(
                [
                    tf.keras.layers.LayerNormalization(),
                    tf.keras.layers.MultiHeadAttention(heads, dim // heads),
                    tf.keras.layers.LayerNormalization(),
                    tf.keras.layers.Dense(4 * dim, activation="gelu"),
                    tf.keras.layers.Dense(dim),
                ]
            )
        self.norm = tf.keras.layers.LayerNormalization()
        self.out = tf.keras.layers.Dense(VOCAB)

    def call(self, ids, training=False):
        x = self.tok(ids) + self.pos(tf.range(tf.shape(ids)[1]))
        for n1, att, n2, up, down in self.blocks:
            h = n1(x)
            x = x + att(h, h, use_causal_mask=True)
            x = x + down(up(n2(x)))
        return self.out(self.norm(x))


def stage_for(step):
    return [length for start, length in STAGES if step >= start][-1]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=340)
    ap.add_argument("--batch", type=int, default=24)
    ap.add_argument("--touches", type=int, default=1500)
    args = ap.parse_args()

    tf.keras.utils.set_random_seed(4)
    rng = np.random.default_rng(4)
    model = Decoder()
    opt = tf.keras.optimizers.AdamW(1e-3, weight_decay=0.01)
    sparse = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    losses = []

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def step_fn(rows):
        with tf.GradientTape() as tape:
            loss = sparse(rows[:, 1:], model(rows[:, :-1], training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def accuracy(rows):
        best = tf.argmax(model(rows[:, :-1]), axis=-1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(best == rows[:, 1:], tf.float32))

    length, pool, held = 0, None, None
    t0 = time.time()
    for step in range(args.steps):
        if stage_for(step) != length:
            length = stage_for(step)
            pool = library(rng, args.touches, length)
            held = tf.constant(library(rng, 32, length))
            print(f"-- touches of {length} blows from step {step}", flush=True)
        rows = pool[rng.integers(0, len(pool), args.batch)]
        losses.append(step_fn(tf.constant(rows)))
        if (step + 1) % 50 == 0:
            recent = float(tf.reduce_mean(tf.stack(losses[-50:])))
            print(
                f"step {step + 1} loss {recent:.4f} acc {float(accuracy(held)):.3f} "
                f"{time.time() - t0:.1f}s",
                flush=True,
            )


if __name__ == "__main__":
    main()
