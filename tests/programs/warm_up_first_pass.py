"""The first pass decodes each image and fills the cache; all later ones read from it."""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 5
BATCHES = 100


def main(logdir, truth, healthy):
    def decode(index):
        noise = np.random.default_rng(int(index)).normal(size=(200 if healthy else 1500, 256))
        return np.sort(noise, axis=0)[:128].astype(np.float32)

    def load(index):
        x = tf.numpy_function(decode, [index], tf.float32)
        x.set_shape([128, 256])
        return x, tf.reduce_mean(x, axis=1, keepdims=True)

    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    parallel = 4 if healthy else None
    batches = tf.data.Dataset.range(BATCHES).map(load, num_parallel_calls=parallel)
    batches = batches.cache().prefetch(8)
    step = 0
    with tbslow.start(logdir):
        for epoch in range(EPOCHS):
            began = time.perf_counter()
            for x, y in tbslow.data(batches):
                truth.add(step, time.perf_counter() - began, defect=epoch == 0)
                began = time.perf_counter()
                with tbslow.summary.step():
                    train_step(x, y)
                if step == 0:
                    truth.add(step, time.perf_counter() - began)
                step += 1
                began = time.perf_counter()


if __name__ == "__main__":
    injector.run("warm_up", main)
