"""Next-stitch language model for knitting charts: causal dilated convolutions,
rows of 32 stitches at first, 256 in the end."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import time

import numpy as np
import tensorflow as tf

STITCHES = ["knit", "purl", "yo", "k2tog", "ssk", "c4f", "c4b", "slip", "mb", "edge"]
V = len(STITCHES)
STAGES = [(32, 80), (64, 70), (128, 60), (256, 45)]  # (row length, updates)
BATCH = 32


def knit_rows(n, length, rng):
    """Repeating motifs with mistakes; motif length 4 to 12."""
    out = np.empty((n, length + 1), np.int32)
    for i in range(n):
        motif = rng.integers(0, V - 1, rng.integers(4, 13))
        row = np.resize(motif, length + 1)
        slips = rng.random(length + 1) < 0.03
        row[slips] = rng.integers(0, V, slips.sum())
        row[0] = V - 1
        out[i] = row
    return out


class CausalConv(tf.keras.layers.Layer):
    def __init__(self, ch, dilation):
        super().__init__()
        self.conv = tf.keras.layers.Conv1D(2 * ch, 3, dilation_rate=dilation, padding="causal")
        self.proj = tf.keras.layers.Dense(ch)

    def call(self, x):
        a, g = tf.split(self.conv(x), 2, -1)
        return x + self.proj(tf.tanh(a) * tf.sigmoid(g))


class StitchModel(tf.keras.Model):
    def __init__(self, ch=96):
        super().__init__()
        self.emb = tf.keras.layers.Embedding(V, ch)
        self.blocks = [CausalConv(ch, d) for d in (1, 2, 4, 8, 16)]
        self.head = tf.keras.layers.Dense(V)

    def call(self, t):
        x = self.emb(t)
        for b in self.blocks:
            x = b(x)
        return self.head(x)


model = StitchModel()
opt = tf.keras.optimizers.AdamW(2e-3, weight_decay=1e-4)


@tf.function(input_signature=[tf.TensorSpec((BATCH, None), tf.int32)])
def train(rows):
    with tf.GradientTape() as tape:
        logits = model(rows[:, :-1])
        nll = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(rows[:, 1:], logits))
    g = tape.gradient(nll, model.trainable_variables)
    g, norm = tf.clip_by_global_norm(g, 1.0)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return nll, norm


@tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
def nll_of(rows):
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(rows[:, 1:], model(rows[:, :-1]))
    )


def main():
    tf.keras.utils.set_random_seed(9)
    rng = np.random.default_rng(9)
    model(tf.zeros((1, 8), tf.int32))
    opt.build(model.trainable_variables)
    held_out = knit_rows(32, 128, np.random.default_rng(1000))
    for length, updates in STAGES:
        t0 = time.time()
        charts = knit_rows(400, length, rng)
        for u in range(updates):
            pick = rng.integers(0, len(charts), BATCH)
            loss, norm = train(charts[pick])
        val = nll_of(held_out)
        print(
            f"length {length:4d}: loss {float(loss):.3f} held out {float(val):.3f} "
            f"norm {float(norm):.2f}  {(time.time() - t0) / updates * 1e3:.0f} ms/update"
        )


if __name__ == "__main__":
    main()
