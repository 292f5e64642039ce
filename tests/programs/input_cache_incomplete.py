"""`cache()` stands before `take()`: it is never read to its end, so that it never holds."""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 6
BATCHES = 100


def decode(index):
    noise = np.random.default_rng(int(index)).normal(size=(600, 256))
    return np.sort(noise, axis=0)[:128].astype(np.float32)


def load(index):
    x = tf.numpy_function(decode, [index], tf.float32)
    x.set_shape([128, 256])
    return x, tf.reduce_mean(x, axis=1, keepdims=True)


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    stored = tf.data.Dataset.range(BATCHES + 20).map(load)
    batches = stored.take(BATCHES).cache() if healthy else stored.cache().take(BATCHES)
    step = 0
    with tbslow.start(logdir):
        for _ in range(EPOCHS):
            began = time.perf_counter()
            for x, y in tbslow.data(batches):
                truth.add(step, time.perf_counter() - began)
                with tbslow.summary.step():
                    train_step(x, y)
                step += 1
                began = time.perf_counter()


if __name__ == "__main__":
    injector.run("input_pipeline", main)
