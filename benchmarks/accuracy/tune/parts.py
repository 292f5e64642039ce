"""What the programs share: a small classifier, its training step, and data made up."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

_FEATURES = 64
_CLASSES = 10


def classifier(width=128):
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input([_FEATURES]),
            tf.keras.layers.Dense(width, activation="relu"),
            tf.keras.layers.Dense(width, activation="relu"),
            tf.keras.layers.Dense(_CLASSES, activation="softmax"),
        ]
    )


def data(count):
    random = np.random.default_rng(3)
    return random.random((count, _FEATURES), np.float32), random.integers(0, _CLASSES, count)


def images(count):
    """Pictures of 8 x 8, flat."""
    x, y = data(count)
    return x.reshape(count, 8, 8), y


def batches(count, size=64):
    x, y = data(16 * size)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).cache().repeat().batch(size)
    return ds.take(count).prefetch(tf.data.AUTOTUNE)


def train_step(net, optimizer=None):
    optimizer = optimizer or tf.keras.optimizers.SGD(0.01)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, net(x, training=True))
        weights = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return step
