"""Shards in remote storage are read one after the other, and each answer takes 8 ms.

After report 46 of the catalogue (tensorflow/models#7127): a seventh of the speed of a local disk.
Without the defect 16 are read at once, ahead of the step.
"""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 3
SHARDS = 10
BATCHES_OF_SHARD = 20
ANSWER_SECONDS = 0.008


def main(logdir, truth, healthy):
    def fetch(shard, number):
        began = time.perf_counter()
        time.sleep(ANSWER_SECONDS)
        random = np.random.default_rng(1000 * int(shard) + int(number))
        x = random.random((ordinary.BATCH, ordinary.FEATURES), np.float32)
        truth.add(0, time.perf_counter() - began)
        return x

    def read(shard):
        def batch(number):
            x = tf.numpy_function(fetch, [shard, number], tf.float32)
            x.set_shape([ordinary.BATCH, ordinary.FEATURES])
            return x, tf.reduce_mean(x, axis=1, keepdims=True)

        return tf.data.Dataset.range(BATCHES_OF_SHARD).map(batch)

    shards = tf.data.Dataset.range(SHARDS)
    if healthy:
        batches = shards.interleave(read, cycle_length=16, num_parallel_calls=16).prefetch(16)
    else:
        batches = shards.interleave(read, cycle_length=1)
    net = ordinary.model()
    net.compile("sgd", "mse")
    callback = tbslow.keras.SlowdownCallback(logdir)
    net.fit(batches, epochs=EPOCHS, verbose=0, callbacks=[callback])


if __name__ == "__main__":
    injector.run("input_pipeline", main)
