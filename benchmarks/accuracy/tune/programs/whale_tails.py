"""Recognizes whales by their tails: triplets by chance at first, the hardest of a batch later."""

import numpy as np
import tensorflow as tf

WHALES, SIDE = 60, 20


class Photos:
    def __init__(self):
        self.rng = np.random.default_rng(19)
        self.tails = self.rng.random((WHALES, SIDE, SIDE, 1)).astype(np.float32)

    def of(self, whales):
        shown = self.tails[whales]
        return shown + self.rng.normal(0, 0.25, shown.shape).astype(np.float32)

    def triplets(self, n):
        who = self.rng.integers(0, WHALES, n)
        other = (who + self.rng.integers(1, WHALES, n)) % WHALES
        return self.of(who), self.of(who), self.of(other)

    def identities(self, whales, each):
        who = np.repeat(self.rng.choice(WHALES, whales, replace=False), each)
        return self.of(who), who


def embedder():
    inputs = tf.keras.Input((SIDE, SIDE, 1))
    h = tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu")(inputs)
    h = tf.keras.layers.Conv2D(32, 3, strides=2, activation="relu")(h)
    h = tf.keras.layers.Dense(32)(tf.keras.layers.Flatten()(h))
    return tf.keras.Model(inputs, tf.keras.layers.UnitNormalization()(h))


net = embedder()
optimizer = tf.keras.optimizers.Adam(1e-3)


def apply(tape, loss):
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))


@tf.function
def step_by_chance(anchor, positive, negative):
    with tf.GradientTape() as tape:
        a, p, n = net(anchor), net(positive), net(negative)
        near, far = tf.reduce_sum((a - p) ** 2, 1), tf.reduce_sum((a - n) ** 2, 1)
        loss = tf.reduce_mean(tf.nn.relu(near - far + 0.3))
    apply(tape, loss)
    return loss


@tf.function
def step_hardest(photos, who):
    with tf.GradientTape() as tape:
        e = net(photos)
        squared = 2 - 2 * tf.matmul(e, e, transpose_b=True)
        same = who[:, None] == who[None, :]
        hardest_near = tf.reduce_max(tf.where(same, squared, -1.0), 1)
        hardest_far = tf.reduce_min(tf.where(same, 9.0, squared), 1)
        loss = tf.reduce_mean(tf.nn.relu(hardest_near - hardest_far + 0.3))
    apply(tape, loss)
    return loss


photos = Photos()
for step in range(1500):
    if step < 700:
        loss = step_by_chance(*map(tf.constant, photos.triplets(32)))
    else:
        loss = step_hardest(*map(tf.constant, photos.identities(40, 6)))
    if step % 100 == 0:
        print(f"step {step:5d} loss {float(loss):.4f}")
