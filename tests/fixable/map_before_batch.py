"""Each number of a batch is scaled by a call of its own."""

import numpy as np
import tensorflow as tf


@tf.function
def train_step(batch):
    total.assign_add(tf.reduce_mean(batch))
    return total.read_value()


total = tf.Variable(0.0)
numbers = np.arange(1500 * 60, dtype="f")
data = tf.data.Dataset.from_tensor_slices(numbers)
data = data.map(lambda x: tf.cast(x, tf.float32) / 255.0 - 0.5).batch(1500).prefetch(2)
for batch in data:
    loss = train_step(batch)
print(round(float(loss), 1))
