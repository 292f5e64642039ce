"""Every 10 steps the data set is made anew: its functions are traced and its buffers filled."""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

ROUNDS = 30
STEPS_OF_ROUND = 10


def make():
    def load(index):
        x = tf.random.stateless_normal([256], [index, 1])
        return x, tf.reduce_mean(x, keepdims=True)

    return tf.data.Dataset.range(50_000).map(load).shuffle(10_000).batch(32).prefetch(2)


def rounds(healthy):
    if healthy:
        yield from make().take(ROUNDS * STEPS_OF_ROUND)
    else:
        for _ in range(ROUNDS):
            yield from make().take(STEPS_OF_ROUND)


def main(logdir, truth, healthy):
    net = ordinary.model()
    train_step = ordinary.train_step(net, ordinary.sgd(net))
    with tbslow.start(logdir):
        began = time.perf_counter()
        for i, (x, y) in enumerate(tbslow.data(rounds(healthy))):
            truth.add(i, time.perf_counter() - began)
            with tbslow.summary.step():
                train_step(x, y)
            began = time.perf_counter()


if __name__ == "__main__":
    injector.run("input_pipeline", main)
