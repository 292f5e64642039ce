"""Reverses digit strings. The share of teacher forcing falls while it learns."""

import random

import numpy as np
import tensorflow as tf

VOCAB, LENGTH, UNITS, BATCH = 12, 6, 48, 32


class Seq2Seq(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(VOCAB, UNITS)
        self.encoder = tf.keras.layers.GRUCell(UNITS)
        self.decoder = tf.keras.layers.GRUCell(UNITS)
        self.out = tf.keras.layers.Dense(VOCAB)


net = Seq2Seq()
opt = tf.keras.optimizers.Adam(2e-3)
ce = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function
def train_on(source, target, teacher):
    with tf.GradientTape() as tape:
        state = tf.zeros([BATCH, UNITS])
        for t in range(LENGTH):
            _, state = net.encoder(net.embed(source[:, t]), [state])
            state = state[0] if isinstance(state, (list, tuple)) else state
        word, loss = tf.zeros([BATCH], tf.int64), 0.0
        for t in range(LENGTH):
            o, state = net.decoder(net.embed(word), [state])
            state = state[0] if isinstance(state, (list, tuple)) else state
            logits = net.out(o)
            loss += ce(target[:, t], logits)
            forced = tf.random.uniform([BATCH]) < teacher
            word = tf.where(forced, target[:, t], tf.argmax(logits, -1))
    grads = tape.gradient(loss, net.trainable_variables)
    opt.apply_gradients(zip(grads, net.trainable_variables))
    return loss


rng = np.random.default_rng(0)
teacher_forcing = 1.0
for step in range(400):
    digits = rng.integers(1, VOCAB, (BATCH, LENGTH))
    loss = train_on(tf.constant(digits), tf.constant(digits[:, ::-1].copy()), teacher_forcing)
    if step % 36 == 35:
        teacher_forcing = max(0.1, teacher_forcing - 0.05 - 0.001 * random.random())
        print(step, float(loss), teacher_forcing)
