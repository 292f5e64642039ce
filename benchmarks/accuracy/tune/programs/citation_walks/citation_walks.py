"""Two-hop neighbour aggregation that tells the field of a paper."""

import time

import keras
import numpy as np
import tensorflow as tf

from neighbours import NeighbourSampler
from papers import Library

PAPERS = 6500
FIELDS = 24
FEATURES = 96
HIDDEN = 256
BATCH = 96
FAN_OUT = 9
EPOCHS = 2


class Aggregator(keras.layers.Layer):
    """Joins a node with the attention-weighted mean of its neighbours."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.own = keras.layers.Dense(units)
        self.near = keras.layers.Dense(units)
        self.score = keras.layers.Dense(1)
        self.norm = keras.layers.LayerNormalization()

    def call(self, node, neighbours):
        near = self.near(neighbours)
        weight = tf.nn.softmax(self.score(tf.nn.tanh(near)), axis=-2)
        pooled = tf.reduce_sum(weight * near, axis=-2)
        return self.norm(tf.nn.relu(self.own(node) + pooled))


class FieldModel(keras.Model):
    def __init__(self):
        super().__init__()
        self.lift = keras.layers.Dense(HIDDEN, activation="relu")
        self.inner = Aggregator(HIDDEN)
        self.outer = Aggregator(HIDDEN)
        self.drop = keras.layers.Dropout(0.2)
        self.head = keras.layers.Dense(FIELDS)

    def call(self, inputs, training=False):
        zero, one, two = inputs
        zero, one, two = self.lift(zero), self.lift(one), self.lift(two)
        one = self.inner(one, two)
        zero = self.outer(zero, one)
        return self.head(self.drop(zero, training=training))


def main():
    keras.utils.set_random_seed(5)
    library = Library(PAPERS, FIELDS, FEATURES, seed=5)
    order = np.random.default_rng(6).permutation(PAPERS)
    train, held = order[:-800], order[-800:]
    sampler = NeighbourSampler(library, BATCH, FAN_OUT, seed=7)
    model = FieldModel()
    optimizer = keras.optimizers.AdamW(2e-3, weight_decay=1e-4)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(zero, one, two, labels):
        with tf.GradientTape() as tape:
            logits = model((zero, one, two), training=True)
            loss = loss_fn(labels, logits)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function
    def right(zero, one, two, labels):
        logits = model((zero, one, two), training=False)
        guess = tf.argmax(logits, axis=-1, output_type=tf.int32)
        return tf.reduce_mean(tf.cast(guess == labels, tf.float32))

    began = time.time()
    for epoch in range(EPOCHS):
        losses = []
        for arrays in sampler.epoch(train):
            losses.append(float(train_step(*map(tf.constant, arrays))))
        hits = [float(right(*map(tf.constant, arrays))) for arrays in sampler.epoch(held)]
        print(
            f"epoch {epoch + 1}  loss {np.mean(losses):.3f}  "
            f"held-out accuracy {np.mean(hits):.3f}  "
            f"{time.time() - began:.1f}s",
            flush=True,
        )


if __name__ == "__main__":
    main()
