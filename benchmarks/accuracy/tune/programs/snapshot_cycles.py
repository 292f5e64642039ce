"""Snapshot ensemble: the rate falls in cycles, and at the end of each the net is kept."""

import math
import pathlib

import numpy as np
import tensorflow as tf

CYCLES, CYCLE = 5, 380
FOLDER = pathlib.Path("snapshots")
tf.random.set_seed(77)


def letters(n):
    rng = np.random.default_rng(77)
    prototypes = rng.normal(size=(26, 24, 24, 1))
    y = rng.integers(0, 26, n)
    x = prototypes[y] + rng.normal(0, 2.0, (n, 24, 24, 1))
    return x.astype("float32"), y


def residual(x, filters):
    y = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    y = tf.keras.layers.BatchNormalization()(y)
    y = tf.keras.layers.Activation("relu")(y)
    y = tf.keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(y)
    return tf.keras.layers.Activation("relu")(tf.keras.layers.Add()([x, y]))


def network():
    inputs = tf.keras.Input((24, 24, 1))
    x = tf.keras.layers.Conv2D(16, 3, strides=2, padding="same")(inputs)
    x = residual(residual(x, 16), 16)
    x = tf.keras.layers.Flatten()(x)
    x = tf.keras.layers.Dense(512, activation="relu")(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(26)(x))


x, y = letters(6000)
test_x, test_y = tf.constant(x[5000:]), y[5000:]
train = tf.data.Dataset.from_tensor_slices((x[:5000], y[:5000]))
train = iter(train.shuffle(5000, reshuffle_each_iteration=True).repeat().batch(32).prefetch(3))
model = network()
rate = tf.Variable(0.05, trainable=False)
velocity = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]


@tf.function
def sgd_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    grads = tape.gradient(loss, model.trainable_variables)
    for v, m, g in zip(model.trainable_variables, velocity, grads):
        m.assign(0.9 * m - rate * g)
        v.assign_add(m)
    return loss


@tf.function
def probabilities(x):
    return tf.nn.softmax(model(x, training=False))


FOLDER.mkdir(exist_ok=True)
votes = np.zeros((len(test_y), 26))
for cycle in range(CYCLES):
    for k in range(CYCLE):
        rate.assign(0.025 * (1 + math.cos(math.pi * k / CYCLE)))
        loss = sgd_step(*next(train))
    model.save(FOLDER / f"cycle_{cycle}.keras")
    votes += probabilities(test_x).numpy()
    right = np.mean(votes.argmax(1) == test_y)
    print(f"cycle {cycle}: loss {float(loss):.3f}, ensemble of {cycle + 1} right {right:.3f}")
