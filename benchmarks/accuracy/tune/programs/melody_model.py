"""Next-note model for synthetic folk tunes, trained in four stages.

The pieces start short and become longer from stage to stage.
"""

import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

NOTES = 40
WIDTH = 96
HEADS = 4
LAYERS = 3
STAGES = [(24, 48, 105), (48, 48, 105), (96, 32, 95), (160, 24, 85)]


def make_tune(rng, length):
    """A tune repeats a motif, transposed, with a few slips."""
    size = int(rng.integers(5, 10))
    motif = rng.integers(0, 12, size=size)
    shift = np.repeat(np.cumsum(rng.integers(-2, 3, size=length // size + 2)), size)[: length + 1]
    tune = np.tile(motif, length // size + 2)[: length + 1] + shift + 14
    slips = rng.random(length + 1) < 0.04
    tune[slips] = rng.integers(0, NOTES, size=int(slips.sum()))
    return np.clip(tune, 0, NOTES - 1)


def make_book(length, count, seed):
    rng = np.random.default_rng(seed)
    return np.stack([make_tune(rng, length) for _ in range(count)]).astype(np.int32)


class Decoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.notes = layers.Embedding(NOTES, WIDTH)
        self.places = layers.Embedding(256, WIDTH)
        self.attend = [layers.MultiHeadAttention(HEADS, WIDTH // HEADS) for _ in range(LAYERS)]
        self.feed = [
            keras.Sequential([layers.Dense(3 * WIDTH, activation="gelu"), layers.Dense(WIDTH)])
            for _ in range(LAYERS)
        ]
        self.norms = [layers.LayerNormalization() for _ in range(2 * LAYERS + 1)]
        self.out = layers.Dense(NOTES)

    def call(self, tokens, training=False):
        x = self.notes(tokens) + self.places(tf.range(tf.shape(tokens)[1]))
        for i in range(LAYERS):
            h = self.norms[2 * i](x)
            x = x + self.attend[i](h, h, use_causal_mask=True)
            x = x + self.feed[i](self.norms[2 * i + 1](x))
        return self.out(self.norms[-1](x))


def main():
    keras.utils.set_random_seed(19)
    model = Decoder()
    optimizer = keras.optimizers.AdamW(1.5e-3, weight_decay=1e-3)
    model(tf.zeros([1, 8], tf.int32))
    optimizer.build(model.trainable_variables)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(tokens):
        with tf.GradientTape() as tape:
            logits = model(tokens[:, :-1], training=True)
            loss = loss_fn(tokens[:, 1:], logits)
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def hits(tokens):
        logits = model(tokens[:, :-1])
        guess = tf.argmax(logits, axis=-1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(guess == tokens[:, 1:], tf.float32))

    began = time.time()
    for stage, (length, batch, steps) in enumerate(STAGES):
        book = make_book(length, batch * 40, seed=100 + stage)
        exam = make_book(length, batch * 4, seed=200 + stage)
        feed = iter(
            tf.data.Dataset.from_tensor_slices(book)
            .shuffle(len(book), seed=stage)
            .repeat()
            .batch(batch, drop_remainder=True)
            .prefetch(2)
        )
        total = 0.0
        for step in range(steps):
            total += float(train_step(next(feed)))
        score = np.mean(
            [float(hits(tf.constant(exam[i : i + batch]))) for i in range(0, len(exam), batch)]
        )
        print(
            f"stage {stage + 1}  length {length:3d}  "
            f"loss {total / steps:.3f}  next-note hits {score:.3f}  "
            f"{time.time() - began:.1f}s",
            flush=True,
        )


if __name__ == "__main__":
    main()
