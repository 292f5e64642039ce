"""Each step collects garbage."""

import gc

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
weights = tf.Variable(tf.random.normal([4, 1], seed=1))
data = tf.data.Dataset.from_tensor_slices(np.ones((64, 4), "f")).repeat(10).batch(16)


@tf.function
def train_step(features):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(features @ weights) ** 2)
    weights.assign_sub(0.01 * tape.gradient(loss, weights))
    return loss


losses = []
for features in data:
    losses.append(float(train_step(features)))
    gc.collect()
print(losses)
