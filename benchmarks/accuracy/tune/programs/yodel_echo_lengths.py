"""Recall a yodel motif after an echo delay; the sequence length grows as the model masters each stage."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

NOTES, BATCH = 8, 64
STAGES = [(12, 150), (24, 150), (40, 150), (64, 150)]


def batch_of(length, rng):
    motif = rng.integers(1, NOTES + 1, (BATCH, length // 4))
    x = np.zeros((BATCH, length), np.int32)
    y = np.zeros((BATCH, length), np.int32)
    k = motif.shape[1]
    x[:, :k] = motif
    x[:, length - k] = NOTES + 1
    y[:, length - k :] = motif
    return x, y


class EchoModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = layers.Embedding(NOTES + 2, 32)
        self.pos = layers.Embedding(128, 32)
        self.blocks = []
        for _ in range(2):
            self.blocks.append(
                (
                    layers.LayerNormalization(),
                    layers.MultiHeadAttention(4, 16),
                    layers.LayerNormalization(),
                    keras.Sequential([layers.Dense(128, activation="gelu"), layers.Dense(32)]),
                )
            )
        self.head = layers.Dense(NOTES + 1)

    def call(self, tokens, training=False):
        h = self.embed(tokens) + self.pos(tf.range(tf.shape(tokens)[1]))
        for n1, att, n2, ff in self.blocks:
            z = n1(h)
            h = h + att(z, z, use_causal_mask=True, training=training)
            h = h + ff(n2(h))
        return self.head(h)


model = EchoModel()
opt = keras.optimizers.Adam(2e-3)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        mask = tf.cast(y > 0, tf.float32)
        loss = tf.reduce_sum(ce * (0.05 + mask)) / tf.reduce_sum(0.05 + mask)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    hit = tf.cast(tf.equal(tf.argmax(logits, -1, output_type=tf.int32), y), tf.float32)
    return loss, tf.reduce_sum(hit * mask) / tf.reduce_sum(mask)


def main():
    keras.utils.set_random_seed(31)
    rng = np.random.default_rng(31)
    for length, steps in STAGES:
        recent = []
        for _ in range(steps):
            x, y = batch_of(length, rng)
            loss, recall = train_step(tf.constant(x), tf.constant(y))
            recent.append(float(recall))
        print(f"length {length:3d} loss {float(loss):.3f} recall {np.mean(recent[-20:]):.3f}")


if __name__ == "__main__":
    main()
