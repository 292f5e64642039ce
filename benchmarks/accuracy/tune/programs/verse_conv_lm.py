"""Character language model (gated causal convolutions) with adaptive clipping.

Gradient norms are clipped at a percentile of the norms seen so far, after
Seetharaman et al., "AutoClip: Adaptive Gradient Clipping for Source Separation
Networks" (2020).
"""

import argparse
import math
import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

ALPHABET = "abcdefghijklmnopqrstuvwxyz ,.;\n"


def synth_verse(num_chars, seed):
    """Lines of words out of a small random lexicon, with a Zipf-like usage."""
    rng = np.random.default_rng(seed)
    lexicon = [
        "".join(rng.choice(list(ALPHABET[:26]), size=rng.integers(2, 8))) for _ in range(300)
    ]
    weights = 1.0 / np.arange(1, len(lexicon) + 1)
    picks = rng.choice(len(lexicon), size=num_chars // 3, p=weights / weights.sum())
    pieces, total, words_in_line = [], 0, 0
    for k in picks:
        words_in_line += 1
        end = " "
        if words_in_line >= 7:
            end, words_in_line = ",\n", 0
        pieces.append(lexicon[k] + end)
        total += len(pieces[-1])
        if total >= num_chars:
            break
    text = "".join(pieces)[:num_chars]
    table = {c: i for i, c in enumerate(ALPHABET)}
    return np.fromiter((table[c] for c in text), np.int32, len(text))


class GatedConv(layers.Layer):
    def __init__(self, width, dilation, **kwargs):
        super().__init__(**kwargs)
        self.conv = layers.Conv1D(2 * width, 2, padding="causal", dilation_rate=dilation)
        self.norm = layers.LayerNormalization()

    def call(self, x):
        a, b = tf.split(self.conv(self.norm(x)), 2, axis=-1)
        return x + tf.tanh(a) * tf.sigmoid(b)


class VerseLM(keras.Model):
    def __init__(self, vocab, width=48, dilations=(1, 2, 4, 8)):
        super().__init__()
        self.embed = layers.Embedding(vocab, width)
        self.blocks = [GatedConv(width, d) for d in dilations]
        self.out = layers.Dense(vocab)

    def call(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.out(x)


class AutoClip:
    """Percentile of the history of gradient norms."""

    def __init__(self, percentile=25.0):
        self.percentile = percentile
        self.norms = []

    def threshold(self, norm):
        self.norms.append(norm)
        return np.float32(np.percentile(self.norms, self.percentile))


class Trainer:
    def __init__(self, model, lr, clip_percentile):
        self.model = model
        self.optimizer = keras.optimizers.Adam(lr)
        self.clipper = AutoClip(clip_percentile)

    @tf.function
    def compute_gradients(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
            )
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads = [tf.convert_to_tensor(g) for g in grads]
        return loss, grads, tf.linalg.global_norm(grads)

    @tf.function
    def apply(self, grads, norm, limit):
        scale = tf.minimum(1.0, limit / (norm + 1e-6))
        self.optimizer.apply_gradients(
            [(g * scale, v) for g, v in zip(grads, self.model.trainable_variables)]
        )

    def step(self, x, y):
        loss, grads, norm = self.compute_gradients(x, y)
        limit = self.clipper.threshold(norm)
        self.apply(grads, norm, tf.constant(limit))
        return loss, limit

    @tf.function
    def evaluate_batch(self, x, y):
        logits = self.model(x)
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        )


def window_batches(tokens, length, batch, rng):
    offsets = np.arange(length + 1)
    while True:
        starts = rng.integers(0, len(tokens) - length - 1, batch)
        chunk = tokens[starts[:, None] + offsets]
        yield tf.constant(chunk[:, :-1]), tf.constant(chunk[:, 1:])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--steps", type=int, default=2800)
    p.add_argument("--length", type=int, default=32)
    p.add_argument("--batch", type=int, default=12)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--clip-percentile", type=float, default=25.0)
    p.add_argument("--eval-every", type=int, default=700)
    p.add_argument("--log-every", type=int, default=100)
    p.add_argument("--seed", type=int, default=11)
    p.add_argument("--out", default=None)
    args = p.parse_args()

    keras.utils.set_random_seed(args.seed)
    tokens = synth_verse(200_000, args.seed)
    split = int(0.95 * len(tokens))
    train = window_batches(tokens[:split], args.length, args.batch, np.random.default_rng(1))
    val_gen = window_batches(tokens[split:], args.length, 64, np.random.default_rng(2))
    val = [next(val_gen) for _ in range(8)]

    trainer = Trainer(VerseLM(len(ALPHABET)), args.lr, args.clip_percentile)
    best, t0, running = math.inf, time.time(), []
    out = args.out or tempfile.mkdtemp(prefix="verse_")
    for step in range(1, args.steps + 1):
        loss, limit = trainer.step(*next(train))
        running.append(float(loss))
        if step % args.log_every == 0:
            print(
                f"step {step:5d} loss {np.mean(running):.4f} clip {limit:.3f} "
                f"{time.time() - t0:.1f}s",
                flush=True,
            )
            running.clear()
        if step % args.eval_every == 0:
            val_loss = float(np.mean([trainer.evaluate_batch(x, y) for x, y in val]))
            print(f"step {step:5d} val loss {val_loss:.4f} ppl {math.exp(val_loss):.2f}")
            if val_loss < best:
                best = val_loss
                trainer.model.save_weights(os.path.join(out, "best.weights.h5"))


if __name__ == "__main__":
    main()
