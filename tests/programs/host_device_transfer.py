"""From step 250 on the whole table is copied to the device in each step, for one batch of it.

The device is the CPU here: the copy is TensorFlow's own from NumPy's memory into a tensor.
"""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

STEPS = 500
COPIED_FROM = 250
ROWS = 24_000


def main(logdir, truth, healthy):
    table = np.random.default_rng(1).normal(size=(ROWS, ordinary.FEATURES)).astype(np.float32)
    labels = table.mean(axis=1, keepdims=True)
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tbslow.start(logdir):
        for i in range(STEPS):
            start = i % (ROWS - ordinary.BATCH)
            rows = slice(start, start + ordinary.BATCH)
            with tbslow.summary.step():
                began = time.perf_counter()
                with tbslow.summary.phase("to_device"):
                    y = tf.constant(labels[rows])
                    if i < COPIED_FROM or healthy:
                        x = tf.constant(table[rows])
                    else:
                        x = tf.constant(table)[rows]
                if i > 10:
                    truth.add(i, time.perf_counter() - began, defect=i >= COPIED_FROM)
                float(train_step(x, y))


if __name__ == "__main__":
    injector.run("host_device_transfer", main)
