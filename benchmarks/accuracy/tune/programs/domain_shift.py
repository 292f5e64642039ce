"""Domain adversarial training: simulated sensors are the source, real ones the target."""

import math

import numpy as np
import tensorflow as tf

CHANNELS, ACTIONS, BATCH, STEPS = 96, 5, 64, 360
rng = np.random.default_rng(23)
centers = rng.normal(size=(ACTIONS, CHANNELS))
drift = rng.normal(size=CHANNELS) * 0.7


def simulated(n):
    y = rng.integers(0, ACTIONS, n)
    return (centers[y] + rng.normal(size=(n, CHANNELS))).astype("float32"), y.astype("int32")


def measured(n):
    x, y = simulated(n)
    return (x * 1.3 + drift).astype("float32"), y


@tf.custom_gradient
def reverse(x):
    return x, lambda upstream: -0.3 * upstream


def dense(width, activation="relu"):
    return tf.keras.layers.Dense(width, activation)


extractor = tf.keras.Sequential([tf.keras.Input((CHANNELS,)), *[dense(128) for _ in range(5)]])
classifier = tf.keras.Sequential([tf.keras.Input((128,)), dense(64), dense(ACTIONS, None)])
critic = tf.keras.Sequential([tf.keras.Input((128,)), dense(64), dense(64), dense(1, None)])
variables = (
    extractor.trainable_variables + classifier.trainable_variables + critic.trainable_variables
)


@tf.function
def gradients(x, y, other):
    with tf.GradientTape() as tape:
        features = extractor(tf.concat([x, other], 0), training=True)
        action = classifier(features[: tf.shape(x)[0]], training=True)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, action))
        domain = critic(reverse(features), training=True)
        origin = tf.concat([tf.zeros((tf.shape(x)[0], 1)), tf.ones((tf.shape(other)[0], 1))], 0)
        loss += tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(origin, domain))
    return loss, tape.gradient(loss, variables)


@tf.function
def accuracy(x, y):
    hits = tf.argmax(classifier(extractor(x)), 1, output_type=tf.int32) == y
    return tf.reduce_mean(tf.cast(hits, tf.float32))


held_x, held_y = map(tf.constant, measured(1000))
for step in range(STEPS):
    x, y = simulated(BATCH)
    loss, grads = gradients(tf.constant(x), tf.constant(y), tf.constant(measured(BATCH)[0]))
    rate = 1e-3 * 0.5 * (1 + math.cos(math.pi * step / STEPS))
    optimizer = tf.keras.optimizers.Adam(learning_rate=rate)
    optimizer.apply_gradients(zip(grads, variables))
    if step % 20 == 0:
        print(f"{step:4d} loss {loss:.3f} on real sensors {accuracy(held_x, held_y):.3f}")
