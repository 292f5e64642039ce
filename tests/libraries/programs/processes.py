"""A pool of spawned processes and one of forked ones beside a training."""

import multiprocessing
import os
import numpy as np


def square(n):
    return os.getppid() > 0, n * n


def prepare(seed):
    return np.random.default_rng(seed).normal(size=(16, 8)).astype("float32")


if __name__ == "__main__":
    import tensorflow as tf
    # tbslow: import tbslow; tbslow.start("logs")

    tf.keras.utils.set_random_seed(1)
    weights = tf.Variable(tf.ones((8, 1)))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights - tf.reduce_sum(x, 1, keepdims=True) * 2) ** 2)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, pool.map(square, range(4)))
            # tbslow: for x in tbslow.data(pool.imap(prepare, range(10))):
            for x in pool.imap(prepare, range(10)):
                # tbslow: with tbslow.summary.step(items=len(x)): loss = train_step(tf.constant(x))
                loss = train_step(tf.constant(x))
        print(float(loss))
