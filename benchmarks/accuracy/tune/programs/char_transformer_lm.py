"""Decoder-only transformer on a synthetic character stream, plain GradientTape loop."""

import math
import os
import tempfile
import time

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf
from tensorflow import keras

SEED = 5
VOCAB, CTX, DIM, HEADS, DEPTH = 64, 64, 96, 4, 3
BATCH, STEPS = 24, 640
WARMUP, PEAK_LR = 60, 2e-3
EVAL_EVERY, SAVE_EVERY = 100, 200


def synth_stream(n, rng):
    trans = rng.dirichlet(np.full(VOCAB, 0.05), size=(VOCAB,))
    cdf = np.cumsum(trans, axis=1)
    u = rng.random(n)
    out = np.empty(n, np.int32)
    c = 0
    for i in range(n):
        c = min(int(np.searchsorted(cdf[c], u[i])), VOCAB - 1)
        out[i] = c
    return out


class Block(keras.layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.ln1 = keras.layers.LayerNormalization(epsilon=1e-5)
        self.ln2 = keras.layers.LayerNormalization(epsilon=1e-5)
        self.qkv = keras.layers.Dense(3 * DIM, use_bias=False)
        self.proj = keras.layers.Dense(DIM)
        self.up = keras.layers.Dense(4 * DIM, activation="gelu")
        self.down = keras.layers.Dense(DIM)

    def call(self, x, mask):
        b, t = tf.shape(x)[0], tf.shape(x)[1]
        qkv = tf.reshape(self.qkv(self.ln1(x)), [b, t, 3, HEADS, DIM // HEADS])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        att = tf.matmul(q, k, transpose_b=True) / math.sqrt(DIM // HEADS) + mask
        y = tf.matmul(tf.nn.softmax(att), v)
        y = tf.reshape(tf.transpose(y, [0, 2, 1, 3]), [b, t, DIM])
        x = x + self.proj(y)
        return x + self.down(self.up(self.ln2(x)))


class CharLM(keras.Model):
    def __init__(self):
        super().__init__()
        self.tok = keras.layers.Embedding(VOCAB, DIM)
        self.pos = keras.layers.Embedding(CTX, DIM)
        self.blocks = [Block() for _ in range(DEPTH)]
        self.ln = keras.layers.LayerNormalization(epsilon=1e-5)
        self.head = keras.layers.Dense(VOCAB)
        self.mask = np.triu(np.full((CTX, CTX), -1e9, "float32"), 1)

    def call(self, ids):
        x = self.tok(ids) + self.pos(tf.range(CTX))[None]
        for blk in self.blocks:
            x = blk(x, self.mask)
        return self.head(self.ln(x))


def lr_at(step):
    if step < WARMUP:
        return PEAK_LR * (step + 1) / WARMUP
    p = (step - WARMUP) / (STEPS - WARMUP)
    return PEAK_LR * (0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * p)))


def draw(stream, rng):
    at = rng.integers(0, len(stream) - CTX - 1, BATCH)
    win = stream[at[:, None] + np.arange(CTX + 1)[None]]
    return tf.constant(win)


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    stream = synth_stream(120_000, rng)
    train, held = stream[:110_000], stream[110_000:]
    val_batches = [draw(held, rng) for _ in range(8)]

    model = CharLM()
    opt = keras.optimizers.Adam(PEAK_LR, beta_2=0.98)
    model(val_batches[0][:, :-1])
    opt.build(model.trainable_variables)
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits

    @tf.function
    def train_step(win):
        with tf.GradientTape() as tape:
            logits = model(win[:, :-1], training=True)
            loss = tf.reduce_mean(ce(labels=win[:, 1:], logits=logits))
        grads = tape.gradient(loss, model.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss, norm

    @tf.function
    def eval_step(win):
        return tf.reduce_mean(ce(labels=win[:, 1:], logits=model(win[:, :-1])))

    with tempfile.TemporaryDirectory() as work:
        ckpt = tf.train.Checkpoint(model=model)
        manager = tf.train.CheckpointManager(ckpt, work, max_to_keep=2)
        t0 = time.time()
        for step in range(STEPS):
            opt.learning_rate.assign(lr_at(step))
            loss, norm = train_step(draw(train, rng))
            if (step + 1) % 50 == 0:
                print(
                    f"step {step + 1} loss {float(loss):.4f} gnorm {float(norm):.2f} "
                    f"{time.time() - t0:.1f}s",
                    flush=True,
                )
            if (step + 1) % EVAL_EVERY == 0:
                val = np.mean([float(eval_step(b)) for b in val_batches])
                print(f"  val loss {val:.4f} ppl {math.exp(val):.2f}")
            if (step + 1) % SAVE_EVERY == 0:
                manager.save(checkpoint_number=step + 1)
        print("kept:", [os.path.basename(p) for p in manager.checkpoints])


if __name__ == "__main__":
    main()
