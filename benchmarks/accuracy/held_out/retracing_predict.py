"""A learner asks `model.predict` for the value of the next states, in every single step.

After report 13 of the catalogue (keras#13118, tensorflow#44711). `predict` makes a data set
of its arguments in each call, whose functions are traced, and Python builds it up and tears
it down. Without the defect the model is called.
"""

import time

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

STEPS = 150
STATES = 32


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    values_of = tf.function(net)
    random = np.random.default_rng(5)

    def values(states):
        if healthy:
            return values_of(tf.constant(states)).numpy()
        return net.predict(states, verbose=0)

    def draw():
        return random.normal(size=(STATES, ordinary.FEATURES)).astype(np.float32)

    with tbslow.start(logdir):
        for i in range(STEPS):
            with tbslow.summary.step():
                states, following = draw(), draw()
                began = time.perf_counter()
                targets = 0.1 + 0.99 * values(following)
                if i:
                    truth.add(i, time.perf_counter() - began)
                train_step(tf.constant(states), tf.constant(targets))
    healthy = True
    values(draw())
    for _ in range(9):
        began = time.perf_counter()
        values(draw())
        truth.add(0, time.perf_counter() - began, defect=False)


if __name__ == "__main__":
    injector.run("retracing", main)
