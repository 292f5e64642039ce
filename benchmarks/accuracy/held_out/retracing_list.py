"""The last losses are handed to the step as a Python list, which gets longer every ten steps."""

import time

import injector
import ordinary
import tensorflow as tf

import tbslow

STEPS = 500
EVERY = 10


def main(logdir, truth, healthy):
    net = ordinary.model()
    optimizer = ordinary.sgd(net)

    @tf.function
    def train_step(x, y, losses):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - y) ** 2) + 1e-6 * tf.add_n(losses)
        gradients = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(gradients, net.trainable_variables, strict=True))
        return loss

    losses = [tf.constant(0.0)]
    with tbslow.start(logdir):
        for i, (x, y) in enumerate(tbslow.data(ordinary.dataset(STEPS))):
            longer = i % EVERY == 0 and i > 0
            with tbslow.summary.step():
                began = time.perf_counter()
                loss = train_step(x, y, losses)
                if i:
                    truth.add(i, time.perf_counter() - began, defect=longer)
            if (i + 1) % EVERY == 0:
                losses = [loss] if healthy else [*losses, loss]


if __name__ == "__main__":
    injector.run("retracing", main)
