"""Predict the next bell of a carillon tune; the span of context grows by stages."""

import math
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Plan:
    spans: tuple = (48, 96, 144, 192, 256)
    steps: int = 10
    bells: int = 47
    batch: int = 32
    width: int = 160
    heads: int = 4
    layers: int = 3
    lr: float = 2e-3
    seed: int = 1652


def tunes(n, length, bells, rng):
    motif = rng.integers(0, bells, (60, 12))
    out = np.empty((n, length), "int32")
    for i in range(n):
        picks = rng.integers(0, 60, length // 12 + 1)
        picks[2::3] = picks[0]
        out[i] = motif[picks].reshape(-1)[:length]
    noise = rng.random(out.shape) < 0.03
    out[noise] = rng.integers(0, bells, noise.sum())
    return out


class Ringer(tf.keras.Model):
    def __init__(self, plan):
        super().__init__()
        L = tf.keras.layers
        self.width, self.heads, self.n = plan.width, plan.heads, plan.layers
        self.embed = L.Embedding(plan.bells, plan.width)
        self.place = L.Embedding(max(plan.spans), plan.width)
        self.norms = [L.LayerNormalization() for _ in range(2 * plan.layers)]
        self.qkv = [L.Dense(3 * plan.width, use_bias=False) for _ in range(plan.layers)]
        self.mix = [L.Dense(plan.width) for _ in range(plan.layers)]
        self.up = [L.Dense(3 * plan.width, activation="relu") for _ in range(plan.layers)]
        self.down = [L.Dense(plan.width) for _ in range(plan.layers)]
        self.out = L.Dense(plan.bells)

    def attend(self, h, i):
        b, t = tf.shape(h)[0], tf.shape(h)[1]
        d = self.width // self.heads
        z = tf.reshape(self.qkv[i](h), (b, t, 3, self.heads, d))
        q, k, v = tf.unstack(tf.transpose(z, (2, 0, 3, 1, 4)))
        score = tf.matmul(q, k, transpose_b=True) / math.sqrt(d)
        past = tf.linalg.band_part(tf.ones((t, t)), -1, 0)
        score += (past - 1.0) * 1e9
        mixed = tf.transpose(tf.matmul(tf.nn.softmax(score), v), (0, 2, 1, 3))
        return self.mix[i](tf.reshape(mixed, (b, t, self.width)))

    def call(self, x):
        h = self.embed(x) + self.place(tf.range(tf.shape(x)[1]))
        for i in range(self.n):
            h = h + self.attend(self.norms[2 * i](h), i)
            h = h + self.down[i](self.up[i](self.norms[2 * i + 1](h)))
        return self.out(h)


def main():
    plan = Plan()
    tf.keras.utils.set_random_seed(plan.seed)
    rng = np.random.default_rng(plan.seed)
    book = tunes(400, max(plan.spans) + 1, plan.bells, rng)
    held = tunes(16, max(plan.spans) + 1, plan.bells, rng)
    model = Ringer(plan)
    model(tf.zeros((1, 8), tf.int32))
    total = plan.steps * len(plan.spans)
    opt = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(plan.lr, total))
    opt.build(model.trainable_variables)

    def nll(seq):
        logits = model(seq[:, :-1])
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=seq[:, 1:], logits=logits)
        )

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def train(seq):
        with tf.GradientTape() as tape:
            loss = nll(seq)
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    t0 = time.time()
    for span in plan.spans:
        at = time.time()
        for _ in range(plan.steps):
            rows = rng.integers(0, len(book), plan.batch)
            off = rng.integers(0, book.shape[1] - span)
            loss = train(tf.constant(book[rows, off : off + span + 1]))
        print(
            f"span {span:4d}  loss {float(loss):.3f}  {(time.time() - at) / plan.steps:.3f} s/step"
        )
    print(f"held-out nll {float(nll(tf.constant(held))):.3f}")
    print(f"train_seconds {time.time() - t0:.2f}")


if __name__ == "__main__":
    main()
