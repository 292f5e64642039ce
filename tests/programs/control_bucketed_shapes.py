"""Lengths differ, but come in four buckets: four traces at the start, then none."""

import injector
import numpy as np
import ordinary
import tensorflow as tf

import tbslow

STEPS = 800
BUCKETS = (64, 96, 128, 160)


def main(logdir, truth, healthy):
    random = np.random.default_rng(2)
    net = ordinary.model()
    optimizer = ordinary.sgd(net)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return loss

    rows, labels = ordinary.samples(2)
    with tbslow.start(logdir):
        for _ in range(STEPS):
            size = int(random.choice(BUCKETS))
            with tbslow.summary.step(items=size):
                train_step(rows[:size], labels[:size])


if __name__ == "__main__":
    injector.run(injector.HEALTHY, main)
