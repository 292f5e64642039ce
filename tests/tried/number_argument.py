"""A rate that is another Python number in each step: a graph of 60 ms for a step of 30 ms."""

import time

import tensorflow as tf

weight = tf.Variable(1.0)


def compute():
    time.sleep(0.03)
    return 1.0


@tf.function
def train_step(rate):
    time.sleep(0.06)
    change = tf.cast(tf.numpy_function(compute, [], tf.float64), tf.float32)
    weight.assign_sub(rate * change)


for number in range(60):
    train_step(0.001 / (number + 1))
