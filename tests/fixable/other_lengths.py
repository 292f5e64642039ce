"""Each batch of sentences is as long as its longest one."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
weights = tf.Variable(tf.random.normal([4, 1], seed=1))


@tf.function
def train_step(sentences):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(sentences @ weights) ** 2)
    weights.assign_sub(0.01 * tape.gradient(loss, weights))
    return loss


losses = []
for number in range(80):
    sentences = tf.constant(np.ones((16, 3 + number, 4), "f"))
    losses.append(float(train_step(sentences)))
print(losses)
