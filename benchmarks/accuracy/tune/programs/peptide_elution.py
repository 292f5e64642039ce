"""Elution time of peptides from their residues, short peptides first."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

RESIDUES = 20
D = 96
STAGES = [(16, 230), (32, 180), (56, 120)]
BATCH = 64


def peptides(length, n, rng):
    lens = rng.integers(int(length * 0.6), length + 1, n)
    seq = rng.integers(1, RESIDUES + 1, (n, length))
    seq[np.arange(length)[None] >= lens[:, None]] = 0
    scale = np.sin(np.arange(RESIDUES + 1) * 1.7)
    scale[0] = 0
    base = scale[seq].sum(1) / np.sqrt(lens)
    pairs = (scale[seq[:, 1:]] * scale[seq[:, :-1]]).sum(1) / np.sqrt(lens)
    y = base + 0.5 * pairs + 0.05 * rng.normal(size=n)
    return seq.astype("int32"), y.astype("float32")[:, None]


class Block(keras.layers.Layer):
    def __init__(self, heads=4):
        super().__init__()
        self.attn = keras.layers.MultiHeadAttention(heads, D // heads)
        self.n1 = keras.layers.LayerNormalization()
        self.n2 = keras.layers.LayerNormalization()
        self.up = keras.layers.Dense(3 * D, activation="gelu")
        self.down = keras.layers.Dense(D)

    def call(self, x, keep):
        h = self.n1(x)
        x = x + self.attn(h, h, attention_mask=keep[:, None, :])
        return x + self.down(self.up(self.n2(x)))


class Elution(keras.Model):
    def __init__(self, depth=3):
        super().__init__()
        self.residue = keras.layers.Embedding(RESIDUES + 1, D)
        self.place = keras.layers.Embedding(64, D)
        self.blocks = [Block() for _ in range(depth)]
        self.head = keras.layers.Dense(1)

    def call(self, seq):
        keep = tf.not_equal(seq, 0)
        x = self.residue(seq) + self.place(tf.range(tf.shape(seq)[1]))
        for block in self.blocks:
            x = block(x, keep)
        w = tf.cast(keep, x.dtype)[..., None]
        pooled = tf.reduce_sum(x * w, 1) / tf.sqrt(tf.reduce_sum(w, 1))
        return self.head(pooled)


net = Elution()
opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-3, 530, alpha=0.1))
SIG = [tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None, 1], tf.float32)]


@tf.function(input_signature=SIG)
def step(seq, y):
    with tf.GradientTape() as tape:
        err = net(seq) - y
        loss = tf.reduce_mean(tf.where(tf.abs(err) < 1, 0.5 * err**2, tf.abs(err) - 0.5))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


@tf.function(input_signature=SIG)
def check(seq, y):
    return tf.reduce_mean(tf.abs(net(seq) - y))


def main():
    keras.utils.set_random_seed(12)
    rng = np.random.default_rng(12)
    exam = [peptides(length, 128, rng) for length, _ in STAGES]
    for number, (length, steps) in enumerate(STAGES):
        seq, y = peptides(length, 5000, rng)
        mean = tf.keras.metrics.Mean()
        rows = np.concatenate([rng.permutation(len(seq)) for _ in range(4)])
        for k in range(steps):
            take = rows[k * BATCH : (k + 1) * BATCH]
            mean.update_state(step(tf.constant(seq[take]), tf.constant(y[take])))
            if (k + 1) % 50 == 0:
                print(f"stage {number} length {length} step {k + 1}: {float(mean.result()):.4f}")
                mean.reset_state()
        maes = [float(check(tf.constant(s), tf.constant(t))) for s, t in exam[: number + 1]]
        print("mean absolute error by length:", " ".join(f"{m:.3f}" for m in maes))


if __name__ == "__main__":
    main()
