"""Language model of knitting patterns with carried state; rows get longer over the course."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import time
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

STITCHES = ["k", "p", "yo", "k2tog", "ssk", "sl", "m1", "cdd", "/", "."]


@dataclass
class Pattern:
    hidden: int = 384
    embed: int = 64
    rows: int = 96
    spans: tuple = (16, 32, 64)
    updates: tuple = (60, 40, 30)
    lr: float = 2e-3
    seed: int = 83


def knit(n, rng):
    """A stream of tokens: repeats of motifs with a few mistakes."""
    motifs = [rng.integers(0, 8, rng.integers(3, 9)) for _ in range(12)]
    out = []
    while len(out) < n:
        m = motifs[rng.integers(0, 12)]
        for _ in range(rng.integers(1, 5)):
            out.extend(m)
        out.append(8 if rng.random() < 0.8 else 9)
    out = np.array(out[:n], np.int32)
    flip = rng.random(n) < 0.02
    out[flip] = rng.integers(0, 10, flip.sum())
    return out


class MinGRU(tf.Module):
    def __init__(self, cfg):
        super().__init__()
        g = tf.random.Generator.from_seed(cfg.seed)
        h, e, v = cfg.hidden, cfg.embed, len(STITCHES)
        self.h = h
        self.table = tf.Variable(g.normal([v, e]) * 0.3)
        self.wx = tf.Variable(g.normal([e, 3 * h]) * (1.0 / e) ** 0.5)
        self.wh = tf.Variable(g.normal([h, 2 * h]) * (1.0 / h) ** 0.5)
        self.wc = tf.Variable(g.normal([h, h]) * (1.0 / h) ** 0.5)
        self.out = tf.Variable(g.normal([h, v]) * 0.05)

    def __call__(self, tokens, state):
        x = tf.transpose(tf.gather(self.table, tokens), [1, 0, 2])
        x = tf.einsum("tbe,eh->tbh", x, self.wx)
        length = tf.shape(x)[0]
        xs = tf.TensorArray(tf.float32, length).unstack(x)
        hs = tf.TensorArray(tf.float32, length)

        def cell(t, s, hs):
            xz, xr, xc = tf.split(xs.read(t), 3, -1)
            z, r = tf.split(tf.sigmoid(tf.concat([xz, xr], -1) + s @ self.wh), 2, -1)
            s = z * s + (1 - z) * tf.tanh(xc + (r * s) @ self.wc)
            return t + 1, s, hs.write(t, s)

        _, state, hs = tf.while_loop(lambda t, *_: t < length, cell, (0, state, hs))
        return tf.einsum("tbh,hv->btv", hs.stack(), self.out), state


def main():
    cfg = Pattern()
    tf.random.set_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    text = knit(400_000, rng)
    text = text[: len(text) // cfg.rows * cfg.rows].reshape(cfg.rows, -1)
    lm = MinGRU(cfg)
    params = list(lm.trainable_variables)
    opt = tf.keras.optimizers.Adam(cfg.lr)
    opt.build(params)

    @tf.function(
        input_signature=[
            tf.TensorSpec([cfg.rows, None], tf.int32),
            tf.TensorSpec([cfg.rows, cfg.hidden], tf.float32),
        ]
    )
    def update(tokens, state):
        with tf.GradientTape() as tape:
            logits, last = lm(tokens[:, :-1], state)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tokens[:, 1:], logits=logits)
            )
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, params), 1.0)
        opt.apply_gradients(zip(grads, params))
        return loss, last

    t0 = time.time()
    for span, n in zip(cfg.spans, cfg.updates):
        at, state, losses = 0, tf.zeros([cfg.rows, cfg.hidden]), []
        for k in range(n):
            if at + span + 1 > text.shape[1]:
                at, state = 0, tf.zeros_like(state)
            loss, state = update(tf.constant(text[:, at : at + span + 1]), state)
            losses.append(loss)
            at += span
        print(
            f"span {span:3d}: {n} updates, nats per stitch {np.mean(losses[-10:]):.4f}, "
            f"{time.time() - t0:.1f}s"
        )
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
