"""Each epoch begins by filling a shuffle buffer that is nearly as large as the data set."""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

EPOCHS = 8
SAMPLES = 6400


def read(index):
    return np.random.default_rng(int(index)).normal(size=2048).astype(np.float32)[:256]


def load(index):
    x = tf.numpy_function(read, [index], tf.float32)
    x.set_shape([256])
    return x, tf.reduce_mean(x, keepdims=True)


def main(logdir, truth, healthy):
    net = ordinary.model(256)
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    rows = tf.data.Dataset.range(SAMPLES).map(load)
    rows = rows.cache().shuffle(6000) if healthy else rows.shuffle(6000)
    batches = rows.batch(64).prefetch(2)
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
