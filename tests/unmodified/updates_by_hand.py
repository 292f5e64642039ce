"""Weights are moved by hand along the gradient, and a coefficient makes the function anew."""

import numpy as np
import tensorflow as tf

# tbslow: import tbslow; tbslow.start("logs")

rng = np.random.default_rng(8)
x = tf.constant(rng.normal(size=(64, 12)), tf.float32)
y = tf.reduce_sum(x, 1, keepdims=True)
weights = [tf.Variable(rng.normal(size=(12, 24)) * 0.1, dtype=tf.float32),
           tf.Variable(rng.normal(size=(24, 1)) * 0.1, dtype=tf.float32)]  # fmt: skip


@tf.function
def gradients_of(damping):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.tanh(x @ weights[0]) @ weights[1] - y) ** 2)
    return loss, [damping * each for each in tape.gradient(loss, weights)]


def descend(damping):
    loss, gradients = gradients_of(damping)
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.assign_sub(0.01 * gradient)
    return loss


for number in range(120):
    # tbslow: with tbslow.summary.step(): loss = descend(1.0 / (1 + number // 2))
    loss = descend(1.0 / (1 + number // 2))
print(f"loss {float(loss):.4f}")
