"""Character transformer on a synthetic bracket/arithmetics language. The context grows in three
stages (tokens per batch stay the same); an averaged copy of the weights is evaluated."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

CHARS = "\n0123456789+-*()=abcdxyz "
VOCAB = len(CHARS)
DIM, HEADS, DEPTH, MAX_LEN = 96, 4, 3, 128
TOKENS_PER_BATCH = 3072
STAGES = [(32, 130), (64, 130), (128, 160)]
EVAL_EVERY = 70
EMA = 0.98


def make_corpus(n_lines, seed):
    rng = np.random.default_rng(seed)
    names = list("abcdxyz")

    def expression(depth):
        if depth == 0 or rng.random() < 0.3:
            return str(rng.integers(0, 100)) if rng.random() < 0.6 else names[rng.integers(7)]
        op = "+-*"[rng.integers(3)]
        text = expression(depth - 1) + op + expression(depth - 1)
        return f"({text})" if rng.random() < 0.5 else text

    lines = []
    for _ in range(n_lines):
        a, b = int(rng.integers(0, 100)), int(rng.integers(0, 100))
        if rng.random() < 0.4:
            lines.append(f"{a}+{b}={a + b}")
        else:
            lines.append(f"{names[rng.integers(7)]} = {expression(3)}")
    lookup = {c: i for i, c in enumerate(CHARS)}
    return np.array([lookup[c] for c in "\n".join(lines)], np.int32)


class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.norm1 = layers.LayerNormalization(epsilon=1e-5)
        self.attn = layers.MultiHeadAttention(HEADS, DIM // HEADS)
        self.norm2 = layers.LayerNormalization(epsilon=1e-5)
        self.up = layers.Dense(4 * DIM, activation="relu")
        self.down = layers.Dense(DIM)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.norm2(x)))


class CharModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.tokens = layers.Embedding(VOCAB, DIM)
        self.positions = layers.Embedding(MAX_LEN, DIM)
        self.blocks = [Block() for _ in range(DEPTH)]
        self.norm = layers.LayerNormalization(epsilon=1e-5)
        self.head = layers.Dense(VOCAB)

    def call(self, ids):
        x = self.tokens(ids) + self.positions(tf.range(tf.shape(ids)[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


tf.keras.utils.set_random_seed(29)
model, averaged = CharModel(), CharModel()
for net in (model, averaged):
    net(tf.zeros([1, 8], tf.int32))
averaged.set_weights(model.get_weights())
total_steps = sum(n for _, n in STAGES)
optimizer = tf.keras.optimizers.AdamW(
    tf.keras.optimizers.schedules.CosineDecay(
        1e-4, total_steps, alpha=0.1, warmup_target=3e-3, warmup_steps=40
    ),
    weight_decay=0.01,
    global_clipnorm=1.0,
)
optimizer.build(model.trainable_variables)
IDS = tf.TensorSpec([None, None], tf.int32)


def cross_entropy(net, ids):
    logits = net(ids[:, :-1])
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids[:, 1:], logits=logits)
    )


@tf.function(input_signature=[IDS])
def train_step(ids):
    with tf.GradientTape() as tape:
        loss = cross_entropy(model, ids)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    for slow, fast in zip(averaged.trainable_variables, model.trainable_variables):
        slow.assign_sub((1.0 - EMA) * (slow - fast))
    return loss


@tf.function(input_signature=[IDS])
def eval_step(ids):
    return cross_entropy(averaged, ids)


def windows(corpus, rng, length, count):
    starts = rng.integers(0, len(corpus) - length - 1, count)
    return corpus[starts[:, None] + np.arange(length + 1)]


def main():
    corpus = make_corpus(20000, 29)
    cut = int(len(corpus) * 0.95)
    rng = np.random.default_rng(30)
    held_out = windows(corpus[cut:], rng, MAX_LEN, 96)
    step, started = 0, time.time()
    with tempfile.TemporaryDirectory() as folder:
        for stage, (length, steps) in enumerate(STAGES):
            batch = TOKENS_PER_BATCH // length
            losses = []
            for _ in range(steps):
                losses.append(train_step(windows(corpus[:cut], rng, length, batch)))
                step += 1
                if step % EVAL_EVERY == 0:
                    bits = np.mean([eval_step(held_out[i : i + 32]) for i in (0, 32, 64)])
                    print(
                        f"step {step:4d} length {length:3d} train {np.mean(losses[-50:]):.3f} "
                        f"held out {bits / np.log(2):.3f} bits [{time.time() - started:.1f}s]"
                    )
            averaged.save_weights(os.path.join(folder, f"stage{stage}.weights.h5"))
            print(f"stage {stage} done, mean loss {np.mean(losses):.3f}")


if __name__ == "__main__":
    main()
