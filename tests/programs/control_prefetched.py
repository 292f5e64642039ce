"""Loading takes as long as a step, but in parallel and ahead of it: the step waits for nothing."""

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

STEPS = 600


def decode(index):
    noise = np.random.default_rng(int(index)).normal(size=(150, 256))
    return np.sort(noise, axis=0)[:128].astype(np.float32)


def load(index):
    x = tf.numpy_function(decode, [index], tf.float32)
    x.set_shape([128, 256])
    return x, tf.reduce_mean(x, axis=1, keepdims=True)


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    batches = tf.data.Dataset.range(STEPS).map(load, num_parallel_calls=2).prefetch(8)
    with tbslow.start(logdir):
        for x, y in tbslow.data(batches):
            with tbslow.summary.step():
                train_step(x, y)


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)
