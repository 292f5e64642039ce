"""A function that gets tensors, and waits for a device of its own: 20 ms a step."""

import time

import tensorflow as tf

weight = tf.Variable(1.0)


def compute():
    time.sleep(0.02)
    return 1.0


@tf.function
def train_step(rate):
    weight.assign_sub(rate * tf.cast(tf.numpy_function(compute, [], tf.float64), tf.float32))


for number in range(80):
    train_step(tf.constant(0.001 / (number + 1)))
