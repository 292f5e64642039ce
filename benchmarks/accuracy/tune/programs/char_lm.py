"""Train a small causal transformer with a sequence-length curriculum.

python char_lm.py --stages 32,64,96,128 --steps-per-stage 160
"""

import argparse
import os
import tempfile
import time

import numpy as np
import tensorflow as tf


def parse_args():
    ap = argparse.ArgumentParser()
    ap.add_argument("--stages", default="24,48,80,128")
    ap.add_argument("--steps-per-stage", type=int, default=160)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--layers", type=int, default=3)
    ap.add_argument("--width", type=int, default=128)
    ap.add_argument("--heads", type=int, default=4)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--log-every", type=int, default=20)
    ap.add_argument("--save-every", type=int, default=128)
    ap.add_argument("--outdir", default=None)
    return ap.parse_args()


# --- data ------------------------------------------------------------------
def markov_text(length, vocab=48, order_mix=0.85, seed=5):
    rng = np.random.default_rng(seed)
    nxt = rng.integers(0, vocab, (vocab, vocab))
    out = np.empty(length, np.int32)
    out[:2] = 0, 1
    noise = rng.random(length)
    rnd = rng.integers(0, vocab, length)
    for i in range(2, length):
        out[i] = nxt[out[i - 2], out[i - 1]] if noise[i] < order_mix else rnd[i]
    return out


def window_batch(text, rng, batch, length):
    start = rng.integers(0, len(text) - length - 1, batch)
    return text[start[:, None] + np.arange(length + 1)]


# --- model -----------------------------------------------------------------
class Block(tf.keras.layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.n1 = tf.keras.layers.LayerNormalization()
        self.n2 = tf.keras.layers.LayerNormalization()
        self.qkv = tf.keras.layers.Dense(3 * width)
        self.proj = tf.keras.layers.Dense(width)
        self.up = tf.keras.layers.Dense(4 * width, activation="gelu")
        self.down = tf.keras.layers.Dense(width)
        self.heads, self.width = heads, width

    def call(self, x):
        b, t = tf.shape(x)[0], tf.shape(x)[1]
        q, k, v = tf.split(self.qkv(self.n1(x)), 3, -1)
        split = lambda z: tf.transpose(
            tf.reshape(z, [b, t, self.heads, self.width // self.heads]), [0, 2, 1, 3]
        )
        q, k, v = split(q), split(k), split(v)
        att = tf.matmul(q, k, transpose_b=True) * (self.width // self.heads) ** -0.5
        mask = tf.linalg.band_part(tf.ones([t, t]), -1, 0)
        att = tf.nn.softmax(att - 1e9 * (1.0 - mask))
        y = tf.reshape(tf.transpose(tf.matmul(att, v), [0, 2, 1, 3]), [b, t, self.width])
        x = x + self.proj(y)
        return x + self.down(self.up(self.n2(x)))


class CharLM(tf.keras.Model):
    def __init__(self, vocab, max_len, layers, width, heads):
        super().__init__()
        self.tok = tf.keras.layers.Embedding(vocab, width)
        self.pos = tf.keras.layers.Embedding(max_len, width)
        self.blocks = [Block(width, heads) for _ in range(layers)]
        self.norm = tf.keras.layers.LayerNormalization()
        self.head = tf.keras.layers.Dense(vocab)

    def call(self, ids):
        x = self.tok(ids) + self.pos(tf.range(tf.shape(ids)[1]))
        for blk in self.blocks:
            x = blk(x)
        return self.head(self.norm(x))


def main():
    args = parse_args()
    outdir = args.outdir or tempfile.mkdtemp(prefix="charlm_")
    stages = [int(s) for s in args.stages.split(",")]
    tf.keras.utils.set_random_seed(1)

    text = markov_text(120_000)
    rng = np.random.default_rng(2)
    model = CharLM(48, max(stages), args.layers, args.width, args.heads)
    model(tf.zeros([1, 8], tf.int32))
    opt = tf.keras.optimizers.AdamW(args.lr)
    opt.build(model.trainable_variables)
    ckpt = tf.train.Checkpoint(model=model, optimizer=opt)
    manager = tf.train.CheckpointManager(ckpt, os.path.join(outdir, "ckpt"), max_to_keep=3)
    writer = tf.summary.create_file_writer(os.path.join(outdir, "tb"))

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def step(tokens):
        with tf.GradientTape() as tape:
            logits = model(tokens[:, :-1])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(tokens[:, 1:], logits)
            )
        grads = tape.gradient(loss, model.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss, norm

    it, history = 0, []
    with writer.as_default():
        for stage, length in enumerate(stages):
            for _ in range(args.steps_per_stage):
                it += 1
                t0 = time.perf_counter()
                loss, norm = step(tf.constant(window_batch(text, rng, args.batch_size, length)))
                history.append(loss.numpy())
                if it % args.log_every == 0:
                    tf.summary.scalar("loss", history[-1], step=it)
                    tf.summary.scalar("grad_norm", norm, step=it)
                    print(
                        f"stage {stage} len {length:3d} it {it:4d} loss {np.mean(history[-args.log_every :]):.3f} "
                        f"{1e3 * (time.perf_counter() - t0):.0f} ms"
                    )
                if it % args.save_every == 0:
                    manager.save()
                    for blk in model.blocks:
                        for dense in (blk.qkv, blk.down):
                            tf.summary.histogram(dense.kernel.path, dense.kernel.value, step=it)
    print("checkpoints in", outdir)


if __name__ == "__main__":
    main()
