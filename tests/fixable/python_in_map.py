"""Python code makes each example."""

import numpy as np
import tensorflow as tf


def load(number):
    values = number.numpy() + np.arange(40_000.0)
    return np.sort(np.sin(values))[:4].astype("f")


def prepare(number):
    return tf.ensure_shape(tf.py_function(load, [number], tf.float32), [4])


@tf.function
def train_step(batch):
    total.assign_add(tf.reduce_mean(batch))
    return total.read_value()


total = tf.Variable(0.0)
data = tf.data.Dataset.range(400)
data = data.map(prepare).batch(4).prefetch(2)
for batch in data:
    loss = train_step(batch)
print(round(float(loss), 2))
