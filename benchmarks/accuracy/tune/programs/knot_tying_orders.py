"""A small causal transformer that learns the order of knot-tying moves.

Sequences of moves (over, under, loop, tuck, ...) come from a stack machine, so
that a long context is needed for the closing moves.  Training goes from short
sequences to long ones.
"""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 61
MOVES = 48
DIM = 96
HEADS = 4
BLOCKS = 3
BATCH = 24
PHASES = [(32, 60), (64, 50), (96, 40), (144, 40)]

keras.utils.set_random_seed(SEED)


def tie(rng, batch, length):
    out = np.zeros((batch, length + 1), np.int32)
    for b in range(batch):
        stack = []
        for t in range(length + 1):
            if stack and rng.random() < 0.48:
                out[b, t] = MOVES // 2 + stack.pop()
            else:
                move = int(rng.integers(0, MOVES // 2))
                stack.append(move)
                out[b, t] = move
    return out


class Block(keras.layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.norm1 = keras.layers.LayerNormalization()
        self.norm2 = keras.layers.LayerNormalization()
        self.attend = keras.layers.MultiHeadAttention(HEADS, DIM // HEADS)
        self.up = keras.layers.Dense(4 * DIM, activation="gelu")
        self.down = keras.layers.Dense(DIM)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attend(h, h, use_causal_mask=True)
        return x + self.down(self.up(self.norm2(x)))


class KnotModel(keras.Model):
    def __init__(self):
        super().__init__()
        longest = max(n for n, _ in PHASES)
        self.move = keras.layers.Embedding(MOVES, DIM)
        self.place = keras.layers.Embedding(longest, DIM)
        self.blocks = [Block() for _ in range(BLOCKS)]
        self.norm = keras.layers.LayerNormalization()
        self.head = keras.layers.Dense(MOVES)

    def call(self, ids):
        x = self.move(ids) + self.place(tf.range(tf.shape(ids)[1]))[None]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


model = KnotModel()
optimizer = keras.optimizers.AdamW(2e-3, weight_decay=0.01, global_clipnorm=1.0)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function(input_signature=[tf.TensorSpec([BATCH, None], tf.int32)])
def train_step(seq):
    with tf.GradientTape() as tape:
        logits = model(seq[:, :-1], training=True)
        loss = loss_fn(seq[:, 1:], logits)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


model(tf.zeros((1, 8), tf.int32))
rng = np.random.default_rng(SEED)
step = 0
for length, steps in PHASES:
    began = time.time()
    losses = []
    for _ in range(steps):
        losses.append(train_step(tf.constant(tie(rng, BATCH, length))))
        step += 1
        if step % 20 == 0:
            print(
                f"step {step:4d}  length {length:3d}  "
                f"loss {float(tf.reduce_mean(losses[-20:])):.4f}"
            )
    print(f"length {length}: {(time.time() - began) / steps * 1000:.0f} ms a step")
