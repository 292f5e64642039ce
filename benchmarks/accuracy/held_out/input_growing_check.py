"""The pipeline drops examples that it has seen, and looks for them in a list that grows."""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

STEPS = 700
EXAMPLES = 20


def main(logdir, truth, healthy):
    seen = set() if healthy else []
    remember = seen.add if healthy else seen.append

    def load(index):
        random = np.random.default_rng(int(index))
        for key in random.integers(0, 1 << 40, EXAMPLES).tolist():
            if key not in seen:
                remember(key)
        return random.normal(size=(ordinary.BATCH, ordinary.FEATURES)).astype(np.float32)

    def batch(index):
        x = tf.numpy_function(load, [index], tf.float32)
        x.set_shape([ordinary.BATCH, ordinary.FEATURES])
        return x, tf.reduce_mean(x, axis=1, keepdims=True)

    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tbslow.start(logdir):
        began = time.perf_counter()
        for i, (x, y) in enumerate(tbslow.data(tf.data.Dataset.range(STEPS).map(batch))):
            if i:
                truth.add(i, time.perf_counter() - began)
            with tbslow.summary.step():
                train_step(x, y)
            began = time.perf_counter()


if __name__ == "__main__":
    injector.run("input_pipeline", main)
