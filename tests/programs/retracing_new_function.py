"""The step is wrapped in `tf.function` inside the loop: each step traces a new function."""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 300


def main(logdir, truth, healthy):
    net = ordinary.model()
    optimizer = ordinary.sgd(net)

    def update(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return loss

    once = tf.function(update)
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            with tbslow.summary.step():
                began = time.perf_counter()
                train_step = once if healthy else tf.function(update)
                train_step(x, y)
                if i:
                    truth.add(i, time.perf_counter() - began)
    once(x, y)
    for i in range(50):
        began = time.perf_counter()
        once(x, y)
        truth.add(i, time.perf_counter() - began, defect=False)


if __name__ == "__main__":
    injector.run("retracing", main)
