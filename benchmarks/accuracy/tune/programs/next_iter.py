"""Masked prediction; the next batch is taken from a new iterator each time."""

import numpy as np
import tensorflow as tf

tokens = np.random.default_rng(5).integers(0, 500, (4000, 24)).astype("int64")
dataset = (
    tf.data.Dataset.from_tensor_slices(tokens)
    .map(lambda row: (tf.where(tf.random.uniform([24]) < 0.15, tf.zeros_like(row), row), row))
    .shuffle(2000)
    .batch(32)
)


class Masked(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(500, 32)
        self.mixer = tf.keras.layers.Conv1D(32, 5, padding="same", activation="relu")
        self.logits = tf.keras.layers.Dense(500)
        self.loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def call(self, x):
        return self.logits(self.mixer(self.embedding(x)))


model = Masked()
opt = tf.keras.optimizers.Adam(3e-4)


@tf.function
def train_batch(masked, full):
    with tf.GradientTape() as tape:
        loss = model.loss_fn(full, model(masked))
    opt.apply_gradients(
        zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    )
    return loss


for i in range(220):
    masked, full = next(iter(dataset))
    loss = train_batch(masked, full)
    if i % 40 == 0:
        tf.print(i, loss)
