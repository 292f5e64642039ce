"""Eight shards are read side by side, and one is much longer: in the end it is read alone.

After report 47 of the catalogue (tensorflow#26309): fast for some hundred steps, then not.
Without the defect all shards are equally long.
"""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

SHARDS = 8
SHORT, LONG = 40, 260
EQUAL = (SHORT * (SHARDS - 1) + LONG) // SHARDS
ANSWER_SECONDS = 0.02
ALONE_FROM = SHORT * SHARDS


def main(logdir, truth, healthy):
    def fetch(shard, number):
        time.sleep(ANSWER_SECONDS)
        random = np.random.default_rng(1000 * int(shard) + int(number))
        return random.random((ordinary.BATCH, ordinary.FEATURES), np.float32)

    def read(shard, length):
        def batch(number):
            x = tf.numpy_function(fetch, [shard, number], tf.float32)
            x.set_shape([ordinary.BATCH, ordinary.FEATURES])
            return x, tf.reduce_mean(x, axis=1, keepdims=True)

        return tf.data.Dataset.range(length).map(batch)

    lengths = [EQUAL] * SHARDS if healthy else [LONG, *[SHORT] * (SHARDS - 1)]
    shards = tf.data.Dataset.from_tensor_slices((list(range(SHARDS)), np.int64(lengths)))
    batches = shards.interleave(read, cycle_length=SHARDS, num_parallel_calls=SHARDS).prefetch(4)
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tbslow.start(logdir):
        began = time.perf_counter()
        for i, (x, y) in enumerate(tbslow.data(batches)):
            if i:
                truth.add(i, time.perf_counter() - began, defect=i >= ALONE_FROM)
            with tbslow.summary.step():
                train_step(x, y)
            began = time.perf_counter()


if __name__ == "__main__":
    injector.run("input_pipeline", main)
