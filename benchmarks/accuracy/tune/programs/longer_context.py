"""A language model with a curriculum: contexts of 16, then 32, then 64 characters."""

import numpy as np
import tensorflow as tf

text = np.random.default_rng(0).integers(0, 64, 200_000)


class Block(tf.keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.attention = tf.keras.layers.MultiHeadAttention(2, width // 2)
        self.norm1 = tf.keras.layers.LayerNormalization()
        self.norm2 = tf.keras.layers.LayerNormalization()
        self.up = tf.keras.layers.Dense(2 * width, "relu")
        self.down = tf.keras.layers.Dense(width)

    def call(self, x):
        x = x + self.attention(self.norm1(x), self.norm1(x), use_causal_mask=True)
        return x + self.down(self.up(self.norm2(x)))


class Model(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(64, 48)
        self.block = Block(48)
        self.logits = tf.keras.layers.Dense(64)

    def call(self, ids):
        return self.logits(self.block(self.embed(ids)))


model, optimizer = Model(), tf.keras.optimizers.AdamW(1e-3)
cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function(input_signature=[tf.TensorSpec([32, None], tf.int64)])
def train_step(ids):
    with tf.GradientTape() as tape:
        loss = cross_entropy(ids[:, 1:], model(ids[:, :-1]))
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for context in (16, 32, 64):
    for i in range(300):
        at = np.random.randint(0, len(text) - context - 1, 32)
        loss = train_step(tf.constant(np.stack([text[a : a + context + 1] for a in at])))
    print("context", context, "loss", float(loss))
