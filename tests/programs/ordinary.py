"""The healthy part of the programs: data, a model, and a step of some milliseconds.

One thread for each operation, so that a step takes the same time on any number of cores.
"""

from __future__ import annotations

import functools
import time

import tensorflow as tf

FEATURES = 256
BATCH = 128

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.keras.utils.set_random_seed(1)


def samples(batches, batch=BATCH):
    """(batches * batch, FEATURES) random rows and one label each."""
    x = tf.random.normal([batches * batch, FEATURES])
    return x, tf.reduce_mean(x, axis=1, keepdims=True)


def dataset(batches, batch=BATCH):
    """As many prefetched batches of samples from memory."""
    rows = tf.data.Dataset.from_tensor_slices(samples(min(batches, 64), batch)).repeat()
    return rows.batch(batch, drop_remainder=True).take(batches).prefetch(2)


def model(width=512):
    """Three dense layers; about 5 ms a step at the usual width."""
    dense = tf.keras.layers.Dense
    return tf.keras.Sequential(
        [tf.keras.Input([FEATURES]), dense(width, "relu"), dense(width, "relu"), dense(1)]
    )


@functools.cache
def device(seconds):
    """A graph that takes so long, in which the training thread waits as for a device."""

    @tf.function
    def compute():
        tf.py_function(functools.partial(time.sleep, seconds), [], [])

    return compute


def sgd(net):
    """An optimizer that is built before the first step."""
    optimizer = tf.keras.optimizers.SGD(0.001)
    optimizer.build(net.trainable_variables)
    return optimizer


def train_step(net, optimizer):
    """A step in a `tf.function` that is traced once."""

    rows = tf.TensorSpec([None, FEATURES])
    labels = tf.TensorSpec([None, 1])

    @tf.function(input_signature=[rows, labels])
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return loss

    return step
