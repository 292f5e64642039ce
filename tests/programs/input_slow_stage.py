"""From step 350 on the images are larger, and decoding them one at a time can't keep up."""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

STEPS = 700
SLOW_FROM = 350


def main(logdir, truth, healthy):
    def decode(index):
        rows = 700 if index >= SLOW_FROM and not healthy else 40
        noise = np.random.default_rng(int(index)).normal(size=(rows, 256))
        return np.sort(noise, axis=0)[np.arange(128) % rows].astype(np.float32)

    def load(index):
        x = tf.numpy_function(decode, [index], tf.float32)
        x.set_shape([128, 256])
        return x, tf.reduce_mean(x, axis=1, keepdims=True)

    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    batches = tf.data.Dataset.range(STEPS).map(load)
    with tbslow.start(logdir):
        began = time.perf_counter()
        for i, (x, y) in enumerate(tbslow.data(batches)):
            if i:
                truth.add(i, time.perf_counter() - began)
            with tbslow.summary.step():
                train_step(x, y)
            began = time.perf_counter()


if __name__ == "__main__":
    injector.run("input_pipeline", main)
