"""Masked thread modelling on tartan setts (weave sequences).

A small transformer sees a sett with some threads hidden and guesses the
colours.  Hiding gets harder as the training goes on.
"""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

COLOURS = [
    "azure",
    "black",
    "crimson",
    "dun",
    "green",
    "ivory",
    "maroon",
    "navy",
    "ochre",
    "purple",
    "red",
    "white",
    "yellow",
    "lovat",
]
HIDDEN = len(COLOURS)


def weave(n, length, rng):
    """Mirror-repeated stripes with random widths, like a real sett."""
    out = np.zeros((n, length), np.int32)
    for i in range(n):
        k = rng.integers(3, 7)
        stripe_colours = rng.choice(len(COLOURS), k, replace=False)
        widths = rng.integers(2, 9, k)
        half = np.repeat(stripe_colours, widths)
        sett = np.concatenate([half, half[::-1]])
        reps = length // len(sett) + 2
        start = rng.integers(0, len(sett))
        out[i] = np.tile(sett, reps)[start : start + length]
    return out


class Block(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.norm1 = layers.LayerNormalization()
        self.norm2 = layers.LayerNormalization()
        self.up = layers.Dense(dim * 2, activation="gelu")
        self.down = layers.Dense(dim)

    def call(self, x):
        x = self.norm1(x + self.att(x, x))
        return self.norm2(x + self.down(self.up(x)))


def build(length, dim, depth):
    tokens = keras.Input((length,), dtype="int32")
    pos = layers.Embedding(length, dim)(tf.range(length))
    x = layers.Embedding(len(COLOURS) + 1, dim)(tokens) + pos[None]
    for _ in range(depth):
        x = Block(dim, 2)(x)
    return keras.Model(tokens, layers.Dense(len(COLOURS))(x))


class SettTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = keras.optimizers.AdamW(lr, weight_decay=1e-4)
        self.opt.build(model.trainable_variables)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(
            from_logits=True, reduction="none"
        )

    @tf.function
    def step(self, threads, hide):
        mask = tf.random.uniform(tf.shape(threads)) < hide
        shown = tf.where(mask, HIDDEN, threads)
        weight = tf.cast(mask, tf.float32)
        with tf.GradientTape() as tape:
            logits = self.model(shown, training=True)
            per_thread = self.loss_fn(threads, logits)
            loss = tf.reduce_sum(per_thread * weight) / (tf.reduce_sum(weight) + 1e-6)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        hit = tf.cast(tf.argmax(logits, -1, tf.int32) == threads, tf.float32)
        return loss, tf.reduce_sum(hit * weight) / (tf.reduce_sum(weight) + 1e-6)


def hiding_share(step, settle, total):
    if step < settle:
        return 0.15
    done = (step - settle) / (total - settle)
    return round((0.15 + 0.45 * done) * 20) / 20


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=260)
    ap.add_argument("--settle", type=int, default=110)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--length", type=int, default=64)
    args = ap.parse_args()

    rng = np.random.default_rng(11)
    keras.utils.set_random_seed(11)
    setts = weave(2400, args.length, rng)
    data = (
        tf.data.Dataset.from_tensor_slices(setts)
        .cache()
        .shuffle(2400, seed=3)
        .repeat()
        .batch(args.batch, drop_remainder=True)
        .prefetch(2)
    )
    trainer = SettTrainer(build(args.length, 48, 2), 2e-3)
    print("threads", args.length, "params", trainer.model.count_params())

    begin = time.time()
    for i, threads in enumerate(data.take(args.steps)):
        hide = hiding_share(i, args.settle, args.steps)
        loss, acc = trainer.step(threads, hide)
        if i % 40 == 0 or i == args.steps - 1:
            print(f"{i:4d} hide {hide:.2f} loss {float(loss):.3f} guessed {float(acc):.3f}")
    print(f"train {time.time() - begin:.2f}s")


if __name__ == "__main__":
    main()
